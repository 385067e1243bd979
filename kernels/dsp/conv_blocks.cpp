// Inner loops of convolutions (conv_blocks.h); conv_blocks_m7.cpp has those of the Cortex-M7. The
// loops produce 2 s for each sum s. Requantization: c = SMMULR(2 s, mult) is the doubling high
// multiply. SMMLAR multiplies c - (c < 0) by 2^(32-right) and adds the zero point: this is the
// right shift that rounds halves away from zero.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_SINGLE

#include "kernels/dsp/conv_blocks.h"
#include "kernels/dsp/shared_assembly.h"

// r0-r2: pixels, r3: columns, lr: bytes. 12 values of all pixels take 16 cycles: single stores take
// one cycle each, and loads in a row one cycle each after the first one.
__asm__(R"(
  .pushsection .text.thimble_dsp_widen3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_widen3
  .type thimble_dsp_widen3, %function
  .thumb_func
thimble_dsp_widen3:
  push {r4-r12, lr}
  ldr lr, [sp, #40]
  tst lr, #4
  beq 2f
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
  subs lr, lr, #4
  beq 3f
  .p2align 2
2:
  ldr.w r10, [r0, #4]
  ldr.w r11, [r1, #4]
  ldr.w r12, [r2, #4]
  ldr r7, [r0], #8
  ldr r8, [r1], #8
  ldr r9, [r2], #8
  sxtb16 r4, r7
  sxtb16 r5, r8
  sxtb16 r6, r9
  str r5, [r3, #4]
  str r6, [r3, #8]
  sxtb16 r7, r7, ror #8
  sxtb16 r8, r8, ror #8
  sxtb16 r9, r9, ror #8
  str r7, [r3, #12]
  str r8, [r3, #16]
  str r9, [r3, #20]
  sxtb16 r5, r10
  sxtb16 r6, r11
  sxtb16 r7, r12
  str r5, [r3, #24]
  str r6, [r3, #28]
  str r7, [r3, #32]
  sxtb16 r10, r10, ror #8
  sxtb16 r11, r11, ror #8
  sxtb16 r12, r12, ror #8
  str r10, [r3, #36]
  str r11, [r3, #40]
  str r12, [r3, #44]
  str r4, [r3], #48
  subs lr, lr, #8
  bne 2b
3:
  mov r0, r3
  pop {r4-r12, pc}
  .size thimble_dsp_widen3, . - thimble_dsp_widen3
  .popsection
)");

// The loop is unrolled six times, so that an instruction cache of 1 KB holds the function, and the
// first four values of the depth are computed before it: their accumulators start from the bias
// without copies. Four loads in a row take five cycles, of which the last one updates an address;
// 24 MACs take 24 cycles.
//
// r0: columns + 12, r1: weights, r2-r4: activations, r5: weights, r6-r8: sums of a, r9-r11: sums of
// half words, r12: y, lr: columns_end + 12. The stack holds the fields of ConvBlock, with `columns`
// and `columns_end` as in r0 and lr; `skip` is replaced by the address at which the loop is
// entered.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_block3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_conv_block3
  .type thimble_dsp_conv_block3, %function
  .thumb_func
  @ Multiplies the activations by the weights of two channels and adds the products to sums.
  .macro thimble_multiply a0, a1, a2, both0, both1, both2
  smlad r9, r2, r5, \both0
  smlad r10, r3, r5, \both1
  smlad r11, r4, r5, \both2
  sxtb16 r5, r5
  smlad r8, r4, r5, \a2
  smlad r7, r3, r5, \a1
  smlad r6, r2, r5, \a0
  .endm
  .macro thimble_second_half
  ldr r5, [r1, #-4]
  ldr r3, [r0, #4]
  ldr r4, [r0, #8]
  ldr r2, [r0], #24
  thimble_multiply r6, r7, r8, r9, r10, r11
  .endm
  @ 84 bytes.
  .macro thimble_four
  ldr r2, [r0, #-12]
  ldr r3, [r0, #-8]
  ldr r4, [r0, #-4]
  ldr r5, [r1], #8
  thimble_multiply r6, r7, r8, r9, r10, r11
  thimble_second_half
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
  adds r8, r8, #1
  mov r10, #84
  mla r8, r8, r10, r9
  orr r8, r8, #1
  adds r2, r2, #12
  adds r3, r3, #12
  mov r12, r4
  push {r2-r8}
  mov r0, r2
  mov lr, r3
  .p2align 2
1:
  ldr r2, [r0, #-12]
  ldr r3, [r0, #-8]
  ldr r4, [r0, #-4]
  ldr r5, [r1, #4]
  ldr r6, [r1], #12
  thimble_multiply r6, r6, r6, r6, r6, r6
  thimble_second_half
  ldr pc, [sp, #24]
  .p2align 2
2:
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  cmp r0, lr
  bne 2b
  ldr lr, [sp, #20]
  ldr r3, [r1, #4]
  ldr r4, [r1, #8]
  ldr r5, [r1, #12]
  ldr r0, [r1, #16]
  ldr r2, [r1], #20
  sub r9, r9, r6
  sub r10, r10, r7
  sub r11, r11, r8
  add r9, r2, r9, asr #7
  add r10, r2, r10, asr #7
  add r11, r2, r11, asr #7
  lsls r6, r6, #1
  lsls r7, r7, #1
  lsl r8, r8, #1
  thimble_finish r6, r7, r8, r3, r4
  thimble_finish r9, r10, r11, r5, r0
  ldr r2, [sp, #16]
  ldr r3, [sp, #12]
  ldr r0, [sp]
  ldr lr, [sp, #4]
  add r4, r12, r2
  add r5, r12, r2, lsl #1
  strb r9, [r12, #1]
  strb r6, [r12], #2
  strb r7, [r4]
  strb r10, [r4, #1]
  strb r8, [r5]
  strb r11, [r5, #1]
  cmp r12, r3
  bne 1b
  mov r0, r1
  add sp, sp, #28
  pop {r4-r11, pc}
  .size thimble_dsp_conv_block3, . - thimble_dsp_conv_block3
  .purgem thimble_multiply
  .purgem thimble_second_half
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
  ldr r7, [r1, #4]
  ldr r5, [r0, #12]
  ldr r4, [r0], #24
  ldr r6, [r1], #8
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
