// SPDX-License-Identifier: Apache-2.0
// Inner loop of linear (linear_block.h). conv_blocks.cpp describes the requantization. Five loads
// in a row take six cycles; 16 products take 20 cycles.
//
// r0: x, r1: weights, r2, r4: sums of a and c, r3, r5: sums of half words, r6-r9: weights, r10,
// r11: activations, r12: x_end. The stack holds the fields of LinearRow;
// `skip` is replaced by the address at which the loop is entered.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_SINGLE

#include "kernels/dsp/linear_block.h"

__asm__(R"(
  .pushsection .text.thimble_dsp_linear_row, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_linear_row
  .type thimble_dsp_linear_row, %function
  .thumb_func
  .macro thimble_pair weights, codes, a, both
  smlad \both, \codes, \weights, \both
  sxtb16 \weights, \weights
  smlad \a, \codes, \weights, \a
  .endm
  .macro thimble_four
  ldr.w r10, [r0], #4
  ldr.w r7, [r1, #4]
  ldr.w r8, [r1, #8]
  ldr.w r9, [r1, #12]
  ldr.w r6, [r1], #16
  sxtb16 r11, r10
  sxtb16 r10, r10, ror #8
  thimble_pair r6, r11, r2, r3
  thimble_pair r7, r11, r4, r5
  thimble_pair r8, r10, r2, r3
  thimble_pair r9, r10, r4, r5
  .endm
  .macro thimble_finish a, b
  ldmia r1!, {r6-r10}
  subs \b, \b, \a
  add \b, r6, \b, asr #7
  lsls \a, \a, #1
  smmulr \a, \a, r7
  smmulr \b, \b, r9
  add \a, \a, \a, asr #31
  add \b, \b, \b, asr #31
  smmlar \a, \a, r8, lr
  smmlar \b, \b, r10, lr
  ssat \a, #8, \a
  ssat \b, #8, \b
  .endm
thimble_dsp_linear_row:
  push {r4-r11, lr}
  ldmia r0, {r2-r7}
  adr r8, 2f
  movs r9, #76
  mla r8, r7, r9, r8
  orr r7, r8, #1
  mov r12, r3
  sub sp, sp, #4
  push {r2-r7}
1:
  ldrd r2, r4, [r1], #8
  ldr r0, [sp]
  mov r3, r2
  mov r5, r4
  ldr pc, [sp, #20]
  .p2align 2
2:
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  thimble_four
  cmp r0, r12
  bne 2b
  ldr lr, [sp, #16]
  thimble_finish r2, r3
  thimble_finish r4, r5
  ldrd r0, lr, [sp, #8]
  bfi r2, r3, #8, #8
  bfi r2, r4, #16, #8
  bfi r2, r5, #24, #8
  str r2, [r0], #4
  str r0, [sp, #8]
  cmp r0, lr
  bne 1b
  mov r0, r1
  add sp, sp, #28
  pop {r4-r11, pc}
  .size thimble_dsp_linear_row, . - thimble_dsp_linear_row
  .purgem thimble_pair
  .purgem thimble_four
  .purgem thimble_finish
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_SINGLE
