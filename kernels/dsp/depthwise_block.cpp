// Inner loop of depthwise convolutions (depthwise_block.h). The loop produces twice each sum;
// conv_blocks.cpp describes the requantization.
//
// Registers: r0: taps, r1: weights, r2: index, r3, lr: weights, r4-r7: sums, r8-r11: activations,
// r12: taps_end. Stack: taps, y - index, index of the pixel's end, zero point, weights, pixels,
// step, channels.

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
  ldr \tap, [\tap, r2]
  ldrd r3, lr, [r1], #8
  sxtb16 r11, \tap, ror #8
  sxtb16 \tap, \tap
  smlabb r4, \tap, r3, r4
  smlatt r6, \tap, r3, r6
  smlabb r5, r11, lr, r5
  smlatt r7, r11, lr, r7
  .endm
thimble_dsp_depthwise_run:
)" THIMBLE_DSP_DEPTHWISE_ENTER R"(
1:
  ldmia r1!, {r4-r7}
  ldr r0, [sp]
2:
  ldmia r0!, {r8, r9, r10}
  thimble_tap r8
  thimble_tap r9
  thimble_tap r10
  cmp r0, r12
  bne 2b
  ldmia r1!, {r8-r11}
  ldr r3, [sp, #12]
  ldr lr, [sp, #4]
  smmulr r4, r4, r8
  smmulr r5, r5, r9
  smmulr r6, r6, r10
  smmulr r7, r7, r11
  ldmia r1!, {r8-r11}
  add r4, r4, r4, asr #31
  add r5, r5, r5, asr #31
  add r6, r6, r6, asr #31
  add r7, r7, r7, asr #31
  smmlar r4, r4, r8, r3
  smmlar r5, r5, r9, r3
  smmlar r6, r6, r10, r3
  smmlar r7, r7, r11, r3
  ssat r4, #8, r4
  ssat r5, #8, r5
  ssat r6, #8, r6
  ssat r7, #8, r7
  bfi r4, r5, #8, #8
  bfi r4, r6, #16, #8
  bfi r4, r7, #24, #8
  str r4, [lr, r2]
  ldr lr, [sp, #8]
  adds r2, r2, #4
  cmp r2, lr
  bne 1b
)" THIMBLE_DSP_DEPTHWISE_NEXT_PIXEL R"(
  .size thimble_dsp_depthwise_run, . - thimble_dsp_depthwise_run
  .purgem thimble_tap
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_SINGLE
