// SPDX-License-Identifier: Apache-2.0
// The last two outputs of linear (linear_block.h). conv_blocks.cpp describes the requantization.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/dsp/linear_block.h"
#include "kernels/dsp/shared_assembly.h"

// r0: x, r1: weights, r2: sum of a, r3: sum of half words, r4, r5: weights, r6, r7: activations,
// r8: weights of a, r9: x_end, r10: y, r12: zero point.
__asm__(R"(
  .pushsection .text.thimble_dsp_linear_pair, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_linear_pair
  .type thimble_dsp_linear_pair, %function
  .thumb_func
thimble_dsp_linear_pair:
  push {r4-r10, lr}
  ldr r12, [r0, #16]
  ldrd r9, r10, [r0, #4]
  ldr r0, [r0]
  ldr r2, [r1], #4
  mov r3, r2
1:
  ldr r7, [r0], #4
  ldrd r4, r5, [r1], #8
  sxtb16 r6, r7
  sxtb16 r7, r7, ror #8
  sxtb16 r8, r4
  smlad r2, r6, r8, r2
  smlad r3, r6, r4, r3
  sxtb16 r8, r5
  smlad r2, r7, r8, r2
  smlad r3, r7, r5, r3
  cmp r0, r9
  bne 1b
  ldmia r1!, {r4-r8}
  subs r3, r3, r2
  add r3, r4, r3, asr #7
  lsls r2, r2, #1
)" THIMBLE_DSP_SCALE_PAIR R"(
  strb r2, [r10]
  strb r3, [r10, #1]
  pop {r4-r10, pc}
  .size thimble_dsp_linear_pair, . - thimble_dsp_linear_pair
  .popsection
)");

#endif  // THIMBLE_HAS_DSP
