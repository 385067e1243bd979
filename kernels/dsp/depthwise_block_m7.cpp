// SPDX-License-Identifier: Apache-2.0
// Inner loop of depthwise convolutions (depthwise_block.h) for the Cortex-M7: 17 cycles for three
// taps of four channels. The loop produces twice each sum; conv_blocks.cpp describes the
// requantization, conv_blocks_m7.cpp explains the order.
//
// Registers: r0: taps, r1: weights, r2: index, r3, lr: weights, r4-r7: sums, r8-r11: activations,
// r12: taps_end. Stack: taps, y - index, index of the pixel's end, zero point, weights, pixels,
// step, channels.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_M7

#include "kernels/dsp/depthwise_block.h"
#include "kernels/dsp/shared_assembly.h"

__asm__(R"(
  .pushsection .text.thimble_dsp_depthwise_run, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_depthwise_run
  .type thimble_dsp_depthwise_run, %function
  .thumb_func
thimble_dsp_depthwise_run:
)" THIMBLE_DSP_DEPTHWISE_ENTER R"(
1:
  ldmia r1!, {r4-r7}
  ldr r0, [sp]
2:
  ldr lr, [r1, #4]
  ldr r8, [r0, #0]
  ldr r3, [r1, #0]
  ldr r9, [r0, #4]
  ldr r8, [r8, r2]
  ldr r10, [r0, #8]
  sxtb16 r11, r8, ror #8
  ldr r9, [r9, r2]
  sxtb16 r8, r8
  smlabb r5, r11, lr, r5
  ldr r10, [r10, r2]
  smlatt r7, r11, lr, r7
  sxtb16 r11, r9, ror #8
  smlabb r4, r8, r3, r4
  ldr lr, [r1, #12]
  smlatt r6, r8, r3, r6
  sxtb16 r9, r9
  smlatt r7, r11, lr, r7
  ldr r3, [r1, #8]
  smlabb r5, r11, lr, r5
  ldr lr, [r1, #20]
  smlabb r4, r9, r3, r4
  sxtb16 r11, r10, ror #8
  smlatt r6, r9, r3, r6
  sxtb16 r10, r10
  ldr r3, [r1, #16]
  add.w r0, r0, #12
  smlabb r5, r11, lr, r5
  add.w r1, r1, #24
  smlabb r4, r10, r3, r4
  cmp r0, r12
  smlatt r6, r10, r3, r6
  smlatt r7, r11, lr, r7
  bne 2b
  ldr r9, [r1, #4]
  ldr r8, [r1]
  smmulr r5, r5, r9
  ldr r9, [r1, #20]
  smmulr r4, r4, r8
  ldr r8, [r1, #16]
  ldr r10, [r1, #8]
  ldr r11, [r1, #12]
  add r5, r5, r5, asr #31
  ldr r3, [sp, #12]
  smmulr r6, r6, r10
  add r4, r4, r4, asr #31
  smmlar r5, r5, r9, r3
  ldr r10, [r1, #24]
  smmulr r7, r7, r11
  add r6, r6, r6, asr #31
  smmlar r4, r4, r8, r3
  ssat r5, #8, r5
  smmlar r6, r6, r10, r3
  add r7, r7, r7, asr #31
  ldr r11, [r1, #28]
  ssat r4, #8, r4
  smmlar r7, r7, r11, r3
  ssat r6, #8, r6
  bfi r4, r5, #8, #8
  ldr lr, [sp, #4]
  ssat r7, #8, r7
  bfi r4, r6, #16, #8
  add.w r1, r1, #32
  bfi r4, r7, #24, #8
  str r4, [lr, r2]
  add.w r2, r2, #4
  ldr lr, [sp, #8]
  cmp r2, lr
  bne 1b
)" THIMBLE_DSP_DEPTHWISE_NEXT_PIXEL R"(
  .size thimble_dsp_depthwise_run, . - thimble_dsp_depthwise_run
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_M7
