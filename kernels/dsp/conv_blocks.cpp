// Inner loops of convolutions (conv_blocks.h); conv_blocks_m7.cpp has those of the Cortex-M7. The
// loops produce 2 s for each sum s. Requantization: c = SMMULR(2 s, mult) is the doubling high
// multiply. SMMLAR multiplies c - (c < 0) by 2^(32-right) and adds the zero point: this is the
// right shift that rounds halves away from zero.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_SINGLE

#include "kernels/dsp/conv_blocks.h"
#include "kernels/dsp/shared_assembly.h"

// r0-r2: pixels, r3: columns, lr: bytes. 10 instructions for 12 values.
__asm__(R"(
  .pushsection .text.thimble_dsp_widen3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_widen3
  .type thimble_dsp_widen3, %function
  .thumb_func
  .macro thimble_widen
  ldr r7, [r0], #4
  ldr r8, [r1], #4
  ldr r9, [r2], #4
  sxtb16 r4, r7
  sxtb16 r5, r8
  sxtb16 r6, r9
  sxtb16 r7, r7, ror #8
  sxtb16 r8, r8, ror #8
  sxtb16 r9, r9, ror #8
  stmia r3!, {r4-r9}
  .endm
thimble_dsp_widen3:
  push {r4-r9, lr}
  ldr lr, [sp, #28]
  tst lr, #4
  beq 2f
  thimble_widen
  subs lr, lr, #4
  beq 3f
2:
  thimble_widen
  thimble_widen
  subs lr, lr, #8
  bne 2b
3:
  mov r0, r3
  pop {r4-r9, pc}
  .size thimble_dsp_widen3, . - thimble_dsp_widen3
  .purgem thimble_widen
  .popsection
)");

// r0: columns, r1: weights, r2-r4: sums of a, r5-r7: sums of half words, r8-r10: activations, r11,
// r12: weights, lr: weights of a. The stack holds the fields of ConvBlock; `skip` is replaced by
// the address at which the loop is entered.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_block3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_conv_block3
  .type thimble_dsp_conv_block3, %function
  .thumb_func
  .macro thimble_two weights
  ldmia r0!, {r8, r9, r10}
  sxtb16 lr, \weights
  smlad r2, r8, lr, r2
  smlad r5, r8, \weights, r5
  smlad r3, r9, lr, r3
  smlad r6, r9, \weights, r6
  smlad r4, r10, lr, r4
  smlad r7, r10, \weights, r7
  .endm
  .macro thimble_four
  ldrd r11, r12, [r1], #8
  thimble_two r11
  thimble_two r12
  .endm
  .macro thimble_finish a, b, c, mult, scale
  smmulr \a, \a, \mult
  smmulr \b, \b, \mult
  smmulr \c, \c, \mult
  add \a, \a, \a, asr #31
  add \b, \b, \b, asr #31
  add \c, \c, \c, asr #31
  smmlar \a, \a, \scale, lr
  smmlar \b, \b, \scale, lr
  smmlar \c, \c, \scale, lr
  ssat \a, #8, \a
  ssat \b, #8, \b
  ssat \c, #8, \c
  .endm
thimble_dsp_conv_block3:
  push {r4-r11, lr}
  ldmia r0, {r2-r8}
  adr r9, 2f
  mov r10, #68
  mla r8, r8, r10, r9
  orr r8, r8, #1
  push {r2-r8}
1:
  ldr r2, [r1], #4
  ldr r0, [sp]
  mov r3, r2
  mov r4, r2
  mov r5, r2
  mov r6, r2
  mov r7, r2
  ldr pc, [sp, #24]
  .p2align 2
2:
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  ldr lr, [sp, #4]
  cmp r0, lr
  bne 2b
  ldmia r1!, {r8-r12}
  ldr lr, [sp, #20]
  ldr r0, [sp, #8]
  sub r5, r5, r2
  sub r6, r6, r3
  sub r7, r7, r4
  add r5, r8, r5, asr #7
  add r6, r8, r6, asr #7
  add r7, r8, r7, asr #7
  ldr r8, [sp, #16]
  lsls r2, r2, #1
  lsls r3, r3, #1
  lsls r4, r4, #1
  thimble_finish r2, r3, r4, r9, r10
  thimble_finish r5, r6, r7, r11, r12
  add r9, r0, r8
  add r10, r9, r8
  strb r5, [r0, #1]
  strb r2, [r0], #2
  strb r3, [r9]
  strb r6, [r9, #1]
  strb r4, [r10]
  strb r7, [r10, #1]
  ldr lr, [sp, #12]
  str r0, [sp, #8]
  cmp r0, lr
  bne 1b
  mov r0, r1
  add sp, sp, #28
  pop {r4-r11, pc}
  .size thimble_dsp_conv_block3, . - thimble_dsp_conv_block3
  .purgem thimble_two
  .purgem thimble_four
  .purgem thimble_finish
  .popsection
)");

// r0: columns, r1: weights, r2: sum of a, r3: sum of half words, r4, r5: activations, r6, r7:
// weights, r8: weights of a, r9: columns_end, r10: y, r11: y_end, r12: zero point, lr: columns.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_block1, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_conv_block1
  .type thimble_dsp_conv_block1, %function
  .thumb_func
thimble_dsp_conv_block1:
)" THIMBLE_DSP_CONV_BLOCK1_ENTER R"(
  ldrd r6, r7, [r1], #8
  ldr r4, [r0], #12
  ldr r5, [r0], #12
  sxtb16 r8, r6
  smlad r2, r4, r8, r2
  smlad r3, r4, r6, r3
  sxtb16 r8, r7
  smlad r2, r5, r8, r2
  smlad r3, r5, r7, r3
  cmp r0, r9
  bne 2b
  ldmia r1!, {r4-r8}
  subs r3, r3, r2
  add r3, r4, r3, asr #7
  lsls r2, r2, #1
)" THIMBLE_DSP_SCALE_PAIR THIMBLE_DSP_CONV_BLOCK1_LEAVE R"(
  .size thimble_dsp_conv_block1, . - thimble_dsp_conv_block1
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_SINGLE
