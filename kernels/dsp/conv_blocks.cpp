// SPDX-License-Identifier: Apache-2.0
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

// thimble_widen2 has no calling convention. r0, r1: pixels, r2: columns, r3: bytes; r0-r2 advance
// to the ends. 16 values of both pixels take 46 cycles. With an odd number of eights the loop is
// entered in its middle.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_quads2, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_widen2
  .type thimble_dsp_widen2, %function
  .thumb_func
  .macro thimble_eight
  ldr.w r6, [r0, #4]
  ldr.w r7, [r1, #4]
  ldr r4, [r0], #8
  ldr r5, [r1], #8
  sxtb16 r8, r4
  sxtb16 r9, r5
  sxtb16 r4, r4, ror #8
  sxtb16 r5, r5, ror #8
  sxtb16 r10, r6
  sxtb16 r11, r7
  sxtb16 r6, r6, ror #8
  sxtb16 r7, r7, ror #8
  str r9, [r2, #4]
  str r4, [r2, #8]
  str r5, [r2, #12]
  str r10, [r2, #16]
  str r11, [r2, #20]
  str r6, [r2, #24]
  str r7, [r2, #28]
  str r8, [r2], #32
  .endm
thimble_dsp_widen2:
  push {r4-r11, lr}
  bl thimble_widen2
  mov r0, r2
  pop {r4-r11, pc}
  .thumb_func
thimble_widen2:
  tst r3, #4
  beq 1f
  ldr r4, [r0], #4
  ldr r5, [r1], #4
  sxtb16 r6, r4
  sxtb16 r7, r5
  sxtb16 r8, r4, ror #8
  sxtb16 r9, r5, ror #8
  stmia r2!, {r6-r9}
  subs r3, r3, #4
  beq 4f
1:
  tst r3, #8
  bne 3f
  .p2align 2
2:
  thimble_eight
3:
  thimble_eight
  subs r3, r3, #16
  bgt 2b
4:
  bx lr
  .size thimble_dsp_widen2, . - thimble_dsp_widen2
  .purgem thimble_eight
  .popsection
)");

// The loop is unrolled six times, so that an instruction cache of 1 KB holds the function, and the
// first four values of the depth are computed before it: their accumulators start from the biases
// without copies. Four loads in a row take five cycles; 32 MACs take 30 cycles.
//
// r0: columns + 8, r1: weights, r2, r3: activations, r4, r5: weights of (a, b) and (c, d), r6, r7:
// sums of a, r8, r9: of half words of (a, b), r10, r11: of c, r12, lr: of half words of (c, d). The
// stack holds the fields of ConvBlock, with `columns` and `columns_end` as in r0; `skip` is
// replaced by the address at which the loop is entered. The address after the last quad follows,
// then, in thimble_dsp_conv_pixels2, weights, x, in_c and blocks.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_quads2, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_conv_quads2
  .global thimble_dsp_conv_pixels2
  .type thimble_dsp_conv_quads2, %function
  .type thimble_dsp_conv_pixels2, %function
  @ Multiplies the activations by the weights of four channels and adds the products to sums.
  .macro thimble_multiply a0, a1, ab0, ab1, c0, c1, cd0, cd1
  smlad r8, r2, r4, \ab0
  smlad r9, r3, r4, \ab1
  smlad r12, r2, r5, \cd0
  smlad lr, r3, r5, \cd1
  sxtb16 r4, r4
  sxtb16 r5, r5
  smlad r7, r3, r4, \a1
  smlad r6, r2, r4, \a0
  smlad r11, r3, r5, \c1
  smlad r10, r2, r5, \c0
  .endm
  .macro thimble_add
  thimble_multiply r6, r7, r8, r9, r10, r11, r12, lr
  .endm
  .macro thimble_second_half
  ldr r3, [r0, #4]
  ldr r5, [r1, #4]
  ldr r2, [r0], #16
  ldr r4, [r1], #8
  thimble_add
  .endm
  @ 106 bytes.
  .macro thimble_four
  ldr r2, [r0, #-8]
  ldr r3, [r0, #-4]
  ldr r5, [r1, #4]
  ldr r4, [r1], #8
  thimble_add
  thimble_second_half
  .endm
  @ From the sums of two channels of two pixels; r0: zero point.
  .macro thimble_finish a0, a1, b0, b1, mult_a, scale_a, mult_b, scale_b
  smmulr \a0, \a0, \mult_a
  smmulr \a1, \a1, \mult_a
  smmulr \b0, \b0, \mult_b
  smmulr \b1, \b1, \mult_b
  add \a0, \a0, \a0, asr #31
  add \a1, \a1, \a1, asr #31
  add \b0, \b0, \b0, asr #31
  add \b1, \b1, \b1, asr #31
  smmlar \a0, \a0, \scale_a, r0
  smmlar \a1, \a1, \scale_a, r0
  smmlar \b0, \b0, \scale_b, r0
  smmlar \b1, \b1, \scale_b, r0
  ssat \a0, #8, \a0
  ssat \a1, #8, \a1
  ssat \b0, #8, \b0
  ssat \b1, #8, \b1
  .endm
  @ Sets r2-r9 to the first fields on the stack.
  .macro thimble_enter last
  push {r4-r11, lr}
  ldmia r0, {r2-r8}
  adr.w r9, 2f
  adds r8, r8, #1
  movs r10, #106
  mla r8, r8, r10, r9
  orr r8, r8, #1
  adr.w r9, \last
  orr r9, r9, #1
  adds r2, r2, #8
  adds r3, r3, #8
  .endm
  .thumb_func
thimble_dsp_conv_pixels2:
  thimble_enter 4f
  ldr r10, [r0, #28]
  ldr r11, [r0, #32]
  ldr r12, [r0, #36]
  push {r1, r10, r11, r12}
  push {r2-r9}
3:
  ldr r0, [sp, #36]
  ldr r3, [sp, #40]
  ldr r2, [sp]
  add r1, r0, r3
  subs r2, r2, #8
  bl thimble_widen2
  str r1, [sp, #36]
  ldr r1, [sp, #32]
  ldr r0, [sp]
  b 1f
4:
  ldr r2, [sp, #8]
  ldr r3, [sp, #16]
  ldr r4, [sp, #44]
  add r2, r2, r3
  add r3, r3, r2
  subs r4, r4, #1
  str r2, [sp, #8]
  str r3, [sp, #12]
  str r4, [sp, #44]
  bne 3b
  add sp, sp, #48
  pop {r4-r11, pc}
  .size thimble_dsp_conv_pixels2, . - thimble_dsp_conv_pixels2
  .thumb_func
thimble_dsp_conv_quads2:
  thimble_enter 5f
  push {r2-r9}
  mov r0, r2
  .p2align 2
1:
  ldr r2, [r0, #-8]
  ldr r3, [r0, #-4]
  ldr r4, [r1, #8]
  ldr r5, [r1, #12]
  ldr r10, [r1, #4]
  ldr r6, [r1], #16
  thimble_multiply r6, r6, r6, r6, r10, r10, r10, r10
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
  ldr r2, [sp, #4]
  cmp r0, r2
  bne 2b
  ldr r0, [sp, #20]
  ldr r3, [r1, #4]
  ldr r4, [r1, #8]
  ldr r5, [r1, #24]
  ldr r2, [r1], #40
  sub r8, r8, r6
  sub r9, r9, r7
  sub r12, r12, r10
  sub lr, lr, r11
  add r8, r2, r8, asr #7
  add r9, r2, r9, asr #7
  add r12, r3, r12, asr #7
  add lr, r3, lr, asr #7
  ldr r2, [r1, #-24]
  ldr r3, [r1, #-8]
  lsls r6, r6, #1
  lsls r7, r7, #1
  lsl r10, r10, #1
  lsl r11, r11, #1
  thimble_finish r6, r7, r8, r9, r4, r2, r5, r3
  ldr r2, [r1, #-28]
  ldr r3, [r1, #-20]
  ldr r4, [r1, #-12]
  ldr r5, [r1, #-4]
  thimble_finish r10, r11, r12, lr, r2, r3, r4, r5
  ldr r2, [sp, #8]
  ldr r4, [sp, #12]
  ldr r3, [sp, #16]
  ldr r0, [sp]
  add r3, r3, r2
  strb r6, [r2]
  strb r7, [r3]
  strb r8, [r2, #1]
  strb r9, [r3, #1]
  strb r10, [r2, #2]
  strb r11, [r3, #2]
  strb r12, [r2, #3]
  strb lr, [r3, #3]
  adds r2, r2, #4
  str r2, [sp, #8]
  cmp r2, r4
  bne 1b
  ldr pc, [sp, #28]
5:
  mov r0, r1
  add sp, sp, #32
  pop {r4-r11, pc}
  .size thimble_dsp_conv_quads2, . - thimble_dsp_conv_quads2
  .purgem thimble_enter
  .purgem thimble_multiply
  .purgem thimble_add
  .purgem thimble_second_half
  .purgem thimble_four
  .purgem thimble_finish
  .popsection
)");

// r0: columns, r1: weights, r2: sum of a, r3: sum of half words, r4, r5: activations, r6, r7:
// weights, r8: weights of a, r9: columns_end, r10: y, r11: y_end, r12: zero point, lr: columns. The
// columns are those of two pixels.
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
  ldr r7, [r1, #8]
  ldr r5, [r0, #8]
  ldr r4, [r0], #16
  ldr r6, [r1], #16
  sxtb16 r8, r6
  smlad r2, r4, r8, r2
  smlad r3, r4, r6, r3
  sxtb16 r8, r7
  smlad r2, r5, r8, r2
  smlad r3, r5, r7, r3
  cmp r0, r9
  bne 2b
)" THIMBLE_DSP_CONV_BLOCK1_ENDS R"(
  subs r3, r3, r2
  add r3, r4, r3, asr #7
  lsls r2, r2, #1
)" THIMBLE_DSP_SCALE_PAIR THIMBLE_DSP_CONV_BLOCK1_LEAVE R"(
  .size thimble_dsp_conv_block1, . - thimble_dsp_conv_block1
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_SINGLE
