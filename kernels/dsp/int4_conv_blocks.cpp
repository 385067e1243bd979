// SPDX-License-Identifier: Apache-2.0
// Inner loops of convolutions with weights of 4 bits (int4_blocks.h). conv_blocks.cpp describes the
// requantization. Four values of the depth take 25 cycles for three pixels, 24 with weights of 8
// bits.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <cstddef>

#include "kernels/dsp/int4_blocks.h"
#include "kernels/dsp/shared_assembly.h"

static_assert(offsetof(thimble::kernels::dsp::ConvBlock, skip) == 24);
static_assert(sizeof(thimble::kernels::dsp::ConvBlock) == 28);

// r0: columns + 12, r1: weights, r2-r4: activations, r5: weights, r6-r8: sums of a, r9-r11: sums of
// bytes, r12: four bytes of weights, lr: columns_end + 12. The stack holds the fields of
// Int4ConvBlock, with `columns` and `columns_end` as in r0 and lr; `skip` is replaced by the
// address at which the loop is entered.
__asm__(R"(
  .pushsection .text.thimble_dsp_int4_block3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_int4_block3
  .type thimble_dsp_int4_block3, %function
  .thumb_func
  .macro thimble_multiply
  smlad r9, r2, r5, r9
  smlad r10, r3, r5, r10
  smlad r11, r4, r5, r11
  and r5, r5, #0x000F000F
  smlad r8, r4, r5, r8
  smlad r7, r3, r5, r7
  smlad r6, r2, r5, r6
  .endm
  @ 92 bytes.
  .macro thimble_four
  ldr r2, [r0, #-12]
  ldr r3, [r0, #-8]
  ldr r4, [r0, #-4]
  ldr r12, [r1], #4
  sxtb16 r5, r12
  thimble_multiply
  ldr.w r3, [r0, #4]
  ldr.w r4, [r0, #8]
  ldr r2, [r0], #24
  sxtb16 r5, r12, ror #8
  thimble_multiply
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
thimble_dsp_int4_block3:
  push {r4-r11, lr}
  ldmia r0, {r2-r11}
  adr r12, 2f
  mov lr, #92
  mla r8, r8, lr, r12
  orr r8, r8, #1
  adds r2, r2, #12
  adds r3, r3, #12
  push {r2-r11}
1:
  ldr r6, [r1], #4
  ldrd r7, r8, [sp, #32]
  ldr r9, [sp, #28]
  ldrd r0, lr, [sp]
  add r7, r7, r6
  add r8, r8, r6
  add r6, r6, r9
  mov r9, r6
  mov r10, r7
  mov r11, r8
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
  add r9, r2, r9, asr #3
  add r10, r2, r10, asr #3
  add r11, r2, r11, asr #3
  lsls r6, r6, #1
  lsls r7, r7, #1
  lsl r8, r8, #1
  thimble_finish r6, r7, r8, r3, r4
  thimble_finish r9, r10, r11, r5, r0
  ldr r12, [sp, #8]
  ldr r2, [sp, #16]
  ldr r3, [sp, #12]
  add r4, r12, r2
  add r5, r12, r2, lsl #1
  strb r9, [r12, #1]
  strb r6, [r12], #2
  strb r7, [r4]
  strb r10, [r4, #1]
  strb r8, [r5]
  strb r11, [r5, #1]
  str r12, [sp, #8]
  cmp r12, r3
  bne 1b
  mov r0, r1
  add sp, sp, #40
  pop {r4-r11, pc}
  .size thimble_dsp_int4_block3, . - thimble_dsp_int4_block3
  .purgem thimble_multiply
  .purgem thimble_four
  .purgem thimble_finish
  .popsection
)");

// r0: columns, r1: weights, r2: sum of a, r3: sum of bytes, r4, r5: activations, r6: four bytes of
// weights, r7: weights, r9: columns_end, r10: y, r11: y_end, r12: zero point, lr: columns. The
// stack holds the offset.
__asm__(R"(
  .pushsection .text.thimble_dsp_int4_block1, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_int4_block1
  .type thimble_dsp_int4_block1, %function
  .thumb_func
thimble_dsp_int4_block1:
  push {r4-r11, lr}
  ldr lr, [r0]
  ldrd r9, r10, [r0, #4]
  ldr r11, [r0, #12]
  ldr r12, [r0, #20]
  ldr r2, [r0, #28]
  push {r2, r3}
1:
  ldr r2, [r1], #4
  ldr r3, [sp]
  mov r0, lr
  add r2, r2, r3
  mov r3, r2
2:
  ldr r5, [r0, #12]
  ldr r4, [r0], #24
  ldr r6, [r1], #4
  sxtb16 r7, r6
  smlad r3, r4, r7, r3
  and r7, r7, #0x000F000F
  smlad r2, r4, r7, r2
  sxtb16 r7, r6, ror #8
  smlad r3, r5, r7, r3
  and r7, r7, #0x000F000F
  smlad r2, r5, r7, r2
  cmp r0, r9
  bne 2b
  ldmia r1!, {r4-r8}
  subs r3, r3, r2
  add r3, r4, r3, asr #3
  lsls r2, r2, #1
)" THIMBLE_DSP_SCALE_PAIR R"(
  strb r2, [r10], #1
  strb r3, [r10], #1
  cmp r10, r11
  bne 1b
  mov r0, r1
  add sp, sp, #8
  pop {r4-r11, pc}
  .size thimble_dsp_int4_block1, . - thimble_dsp_int4_block1
  .popsection
)");

#endif  // THIMBLE_HAS_DSP
