// SPDX-License-Identifier: Apache-2.0
// Inner loop of linear (linear_block.h) for the Cortex-M7: 10 cycles for four values of x and four
// outputs. conv_blocks_m7.cpp explains the order.
//
// r0: x, r1: weights, r2, r4: sums of a and c, r3, r5: sums of half words, r6-r9: weights, r10,
// r11: activations, r12: x_end, lr: weights of a or c. Stack: the fields of LinearRow, of which `x`
// and `skip` are replaced: by `x` as if the loop were entered at its start, and by the address at
// which it is entered; the distance from the biases to the weights, likewise.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_M7

#include "kernels/dsp/linear_block.h"

__asm__(R"(
  .pushsection .text.thimble_dsp_linear_row, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_linear_row
  .type thimble_dsp_linear_row, %function
  .thumb_func
  .macro thimble_four at
  ldr.w r7, [r1, #16 * \at + 4]
  ldr.w r10, [r0, #4 * \at]
  sxtb16 r11, r10
  ldr.w r6, [r1, #16 * \at]
  sxtb16 lr, r6
  smlad r3, r11, r6, r3
  sxtb16 r10, r10, ror #8
  smlad r2, r11, lr, r2
  sxtb16 lr, r7
  smlad r5, r11, r7, r5
  ldr.w r8, [r1, #16 * \at + 8]
  smlad r4, r11, lr, r4
  sxtb16 lr, r8
  smlad r3, r10, r8, r3
  ldr.w r9, [r1, #16 * \at + 12]
  smlad r2, r10, lr, r2
  sxtb16 lr, r9
  smlad r5, r10, r9, r5
  smlad r4, r10, lr, r4
  .endm
thimble_dsp_linear_row:
  push {r4-r11, lr}
  ldmia r0, {r2-r7}
  adr r8, 2f
  movs r9, #76
  mla r8, r7, r9, r8
  sub r2, r2, r7, lsl #2
  lsls r7, r7, #4
  rsb r9, r7, #8
  orr r7, r8, #1
  mov r12, r3
  push {r2-r7, r9}
1:
  ldr r2, [r1]
  ldr r4, [r1, #4]
  ldr r6, [sp, #24]
  ldr r0, [sp]
  mov r3, r2
  mov r5, r4
  add r1, r1, r6
  ldr pc, [sp, #20]
  .p2align 2
2:
  thimble_four 0
  thimble_four 1
  thimble_four 2
  thimble_four 3
  adds r0, r0, #16
  adds r1, r1, #64
  cmp r0, r12
  bne 2b
  ldr r8, [r1, #8]
  sub.w r3, r3, r2
  sub.w r5, r5, r4
  add.w r2, r2, r2
  ldr r7, [r1, #4]
  ldr r9, [r1, #12]
  ldr r6, [r1]
  add.w r4, r4, r4
  smmulr r2, r2, r7
  add r3, r6, r3, asr #7
  ldr r6, [r1, #20]
  ldr r10, [r1, #16]
  smmulr r3, r3, r9
  add r2, r2, r2, asr #31
  ldr r7, [r1, #24]
  ldr r9, [r1, #32]
  smmulr r4, r4, r7
  add r3, r3, r3, asr #31
  ldr lr, [sp, #16]
  add r5, r6, r5, asr #7
  smmlar r2, r2, r8, lr
  add r4, r4, r4, asr #31
  smmulr r5, r5, r9
  ldr r8, [r1, #28]
  smmlar r3, r3, r10, lr
  ssat r2, #8, r2
  smmlar r4, r4, r8, lr
  add r5, r5, r5, asr #31
  ldr r10, [r1, #36]
  ssat r3, #8, r3
  smmlar r5, r5, r10, lr
  ssat r4, #8, r4
  bfi r2, r3, #8, #8
  ldr r0, [sp, #8]
  ssat r5, #8, r5
  bfi r2, r4, #16, #8
  add.w r1, r1, #40
  bfi r2, r5, #24, #8
  str r2, [r0]
  add.w r0, r0, #4
  ldr lr, [sp, #12]
  str r0, [sp, #8]
  cmp r0, lr
  bne 1b
  mov r0, r1
  add sp, sp, #28
  pop {r4-r11, pc}
  .size thimble_dsp_linear_row, . - thimble_dsp_linear_row
  .purgem thimble_four
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_M7
