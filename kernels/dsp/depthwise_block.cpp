// SPDX-License-Identifier: Apache-2.0
// Inner loop of depthwise convolutions (depthwise_block.h). The loop produces twice each sum;
// conv_blocks.cpp describes the requantization. Loads are in rows, which take one cycle for each
// load and one more. Windows of nine taps, the most frequent ones, have code of their own
// without a loop.
//
// Registers: r0: taps, r1: weights + 16, r2: index, r3, lr: weights, r4-r7: sums, r8-r11:
// activations, r12: taps_end. Stack: taps, y - index, index of the pixel's end, zero point,
// weights, pixels, step, channels.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_SINGLE

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
  .macro thimble_tap tap
  sxtb16 r11, \tap, ror #8
  sxtb16 \tap, \tap
  smlabb r4, \tap, r3, r4
  smlatt r6, \tap, r3, r6
  smlabb r5, r11, lr, r5
  smlatt r7, r11, lr, r7
  .endm
  .macro thimble_three
  ldr.w r9, [r0, #4]
  ldr.w r10, [r0, #8]
  ldr r8, [r0], #12
  ldr r9, [r9, r2]
  ldr r10, [r10, r2]
  ldr r8, [r8, r2]
  ldr r3, [r1, #-16]
  ldr lr, [r1, #-12]
  thimble_tap r8
  ldr r3, [r1, #-8]
  ldr lr, [r1, #-4]
  thimble_tap r9
  ldr.w lr, [r1, #4]
  ldr r3, [r1], #24
  thimble_tap r10
  .endm
  .macro thimble_begin
  ldr r0, [sp]
  ldr r5, [r1, #4]
  ldr r6, [r1, #8]
  ldr r7, [r1, #12]
  ldr r4, [r1], #32
  .endm
  @ Sets the flags for the end of the pixel.
  .macro thimble_finish
  ldr r8, [r1, #-16]
  ldr r9, [r1, #-12]
  ldr r10, [r1, #-8]
  ldr r11, [r1, #-4]
  ldr r0, [r1, #12]
  ldr r3, [sp, #12]
  ldr.w lr, [sp, #4]
  smmulr r4, r4, r8
  smmulr r5, r5, r9
  smmulr r6, r6, r10
  smmulr r7, r7, r11
  ldr.w r9, [r1, #4]
  ldr.w r10, [r1, #8]
  ldr.w r11, [sp, #8]
  ldr r8, [r1], #16
  add r4, r4, r4, asr #31
  add r5, r5, r5, asr #31
  add r6, r6, r6, asr #31
  add r7, r7, r7, asr #31
  smmlar r4, r4, r8, r3
  smmlar r5, r5, r9, r3
  smmlar r6, r6, r10, r3
  smmlar r7, r7, r0, r3
  ssat r4, #8, r4
  ssat r5, #8, r5
  ssat r6, #8, r6
  ssat r7, #8, r7
  bfi r4, r5, #8, #8
  bfi r4, r6, #16, #8
  bfi r4, r7, #24, #8
  str r4, [lr, r2]
  adds r2, r2, #4
  cmp r2, r11
  .endm
thimble_dsp_depthwise_run:
)" THIMBLE_DSP_DEPTHWISE_ENTER R"(
  ldr r3, [sp]
  sub r3, r12, r3
  cmp r3, #36
  bne 4f
  .p2align 2
1:
  thimble_begin
  thimble_three
  thimble_three
  thimble_three
  thimble_finish
  bne 1b
)" THIMBLE_DSP_DEPTHWISE_NEXT_PIXEL R"(
4:
1:
  thimble_begin
  .p2align 2
2:
  thimble_three
  cmp r0, r12
  bne 2b
  thimble_finish
  bne 1b
)" THIMBLE_DSP_DEPTHWISE_NEXT_PIXEL R"(
  .size thimble_dsp_depthwise_run, . - thimble_dsp_depthwise_run
  .purgem thimble_tap
  .purgem thimble_three
  .purgem thimble_begin
  .purgem thimble_finish
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_SINGLE
