// SPDX-License-Identifier: Apache-2.0
// Inner loops of convolutions (conv_blocks.h) for the Cortex-M7. conv_blocks.cpp describes the
// requantization and has the same functions for cores that issue one instruction per cycle.
//
// The M7 issues two instructions per cycle, one of which can multiply. LDM and LDRD are issued
// alone, so each value has a load of its own. In a pair, the load or extension is first: its result
// is written before that of the multiplication. thimble_half computes 12 products in 6 cycles
// while it loads the operands of the next half. Four quads and the branch take 50 cycles by the
// model of src/cycles, 72 with loads of lists. Addresses have offsets: an updated address would
// wait for the multiplication before it. ADD.W does not set the flags, which would also wait. The
// code after the loop is in the order in which the model needs the fewest cycles.
//
// The words of a pair of channels are 8 bytes apart. All first pairs of the quads are computed
// before the second ones.

#include "kernels/dsp/dual_issue.h"

#if THIMBLE_HAS_DSP_M7

#include "kernels/dsp/conv_blocks.h"
#include "kernels/dsp/shared_assembly.h"

// r0-r2: pixels, r3: columns, lr: bytes.
__asm__(R"(
  .pushsection .text.thimble_dsp_widen3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_widen3
  .type thimble_dsp_widen3, %function
  .thumb_func
thimble_dsp_widen3:
  push {r4-r9, lr}
  ldr lr, [sp, #28]
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
2:
  ldr r9, [r2, #0]
  ldr r8, [r1, #0]
  sxtb16 r6, r9
  ldr r7, [r0, #0]
  sxtb16 r9, r9, ror #8
  str r9, [r3, #20]
  sxtb16 r4, r7
  ldr r9, [r2, #4]
  sxtb16 r7, r7, ror #8
  add.w r2, r2, #8
  sxtb16 r5, r8
  str r7, [r3, #12]
  subs.w lr, lr, #8
  str r6, [r3, #8]
  sxtb16 r8, r8, ror #8
  str r8, [r3, #16]
  sxtb16 r6, r9
  ldr r8, [r1, #4]
  ldr r7, [r0, #4]
  str r4, [r3, #0]
  sxtb16 r4, r7
  str r4, [r3, #24]
  add.w r1, r1, #8
  str r5, [r3, #4]
  sxtb16 r5, r8
  str r5, [r3, #28]
  sxtb16 r9, r9, ror #8
  str r6, [r3, #32]
  sxtb16 r8, r8, ror #8
  str r9, [r3, #44]
  sxtb16 r7, r7, ror #8
  str r8, [r3, #40]
  add.w r0, r0, #8
  str r7, [r3, #36]
  add.w r3, r3, #48
  bne 2b
3:
  mov r0, r3
  pop {r4-r9, pc}
  .size thimble_dsp_widen3, . - thimble_dsp_widen3
  .popsection
)");

// r0: columns, r1: weights, r2-r4: sums of a, r5-r7: sums of half words, r8-r10: activations, r11,
// r12: weights, lr: weights of a. Stack: the fields of ConvBlock but `skip`; the address at which
// the loop is entered; `columns` and the distance to the weights as if the loop were entered at its
// start; `second`, and y of the second pairs.
__asm__(R"(
  .pushsection .text.thimble_dsp_conv_block3, "ax", %progbits
  .syntax unified
  .thumb
  .p2align 2
  .global thimble_dsp_conv_block3
  .type thimble_dsp_conv_block3, %function
  .thumb_func
  @ Multiplies three pairs of activations, of which two are loaded, by the weights of two channels.
  .macro thimble_half at, weights, next
  sxtb16 lr, \weights
  smlad r5, r8, \weights, r5
  ldr \next, [r1, #8 * (\at + 1)]
  smlad r2, r8, lr, r2
  ldr r8, [r0, #12 * (\at + 1)]
  smlad r6, r9, \weights, r6
  ldr r10, [r0, #12 * \at + 8]
  smlad r3, r9, lr, r3
  ldr r9, [r0, #12 * (\at + 1) + 4]
  smlad r7, r10, \weights, r7
  smlad r4, r10, lr, r4
  .endm
  .macro thimble_quad at
  thimble_half \at, r11, r12
  thimble_half (\at+1), r12, r11
  .endm
thimble_dsp_conv_block3:
  push {r4-r11, lr}
  ldr r3, [r0, #28]
  ldr r4, [r0, #8]
  adds r4, r4, #2
  push {r3, r4}
  ldmia r0, {r2-r8}
  adr r9, 3f
  movs r10, #88
  mla r9, r8, r10, r9
  orr r9, r9, #1
  add r10, r8, r8, lsl #1
  sub r10, r2, r10, lsl #3
  lsls r8, r8, #4
  rsb r11, r8, #8
  push {r2-r7, r9-r11}
1:
  ldr r2, [r1]
  ldr r12, [sp]
  ldr r11, [r1, #8]
  mov r3, r2
  ldr r0, [sp, #28]
  mov r4, r2
  ldr r10, [sp, #32]
  mov r5, r2
  ldr r8, [r12]
  mov r6, r2
  ldr r9, [r12, #4]
  mov r7, r2
  add r1, r1, r10
  ldr pc, [sp, #24]
  .p2align 2
2:
  ldr r11, [r1]
  ldr r8, [r0]
  ldr r9, [r0, #4]
3:
  thimble_quad 0
  thimble_quad 2
  thimble_quad 4
  thimble_half 6, r11, r12
  sxtb16 lr, r12
  smlad r5, r8, r12, r5
  ldr r11, [sp, #4]
  smlad r2, r8, lr, r2
  add.w r1, r1, #64
  smlad r6, r9, r12, r6
  ldr r10, [r0, #92]
  smlad r3, r9, lr, r3
  add.w r0, r0, #96
  smlad r7, r10, r12, r7
  cmp r0, r11
  smlad r4, r10, lr, r4
  bne 2b
  sub r6, r6, r3
  ldr r11, [r1, #24]
  ldr r8, [r1]
  sub r7, r7, r4
  ldr r9, [r1, #8]
  sub r5, r5, r2
  add.w r2, r2, r2
  add r6, r8, r6, asr #7
  add.w r4, r4, r4
  smmulr r6, r6, r11
  ldr r12, [r1, #32]
  add r5, r8, r5, asr #7
  add.w r3, r3, r3
  smmulr r5, r5, r11
  smmulr r2, r2, r9
  ldr lr, [sp, #20]
  add r6, r6, r6, asr #31
  add r5, r5, r5, asr #31
  smmulr r4, r4, r9
  ldr r10, [r1, #16]
  add r7, r8, r7, asr #7
  add r2, r2, r2, asr #31
  smmulr r3, r3, r9
  ldr r0, [sp, #8]
  smmlar r2, r2, r10, lr
  ldr r8, [sp, #16]
  smmulr r7, r7, r11
  add r9, r0, r8
  add r4, r4, r4, asr #31
  ssat r2, #8, r2
  smmlar r5, r5, r12, lr
  add r7, r7, r7, asr #31
  smmlar r6, r6, r12, lr
  add r3, r3, r3, asr #31
  smmlar r4, r4, r10, lr
  ssat r5, #8, r5
  smmlar r3, r3, r10, lr
  ssat r6, #8, r6
  strb r5, [r0, #1]
  add r10, r9, r8
  smmlar r7, r7, r12, lr
  ssat r3, #8, r3
  strb r2, [r0]
  add.w r0, r0, #4
  ldr lr, [sp, #12]
  cmp r0, lr
  strb r3, [r9]
  ssat r4, #8, r4
  strb r6, [r9, #1]
  add.w r1, r1, #40
  strb r4, [r10]
  ssat r7, #8, r7
  str r0, [sp, #8]
  strb r7, [r10, #1]
  bne 1b
  ldr r1, [sp, #36]
  ldr r0, [sp, #40]
  cbz r1, 4f
  movs r2, #0
  add lr, lr, #2
  str r2, [sp, #36]
  str r0, [sp, #8]
  str lr, [sp, #12]
  b 1b
4:
  add sp, sp, #44
  pop {r4-r11, pc}
  .size thimble_dsp_conv_block3, . - thimble_dsp_conv_block3
  .purgem thimble_half
  .purgem thimble_quad
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
  ldr r7, [r1, #8]
  ldr r4, [r0]
  ldr r6, [r1]
  ldr r5, [r0, #12]
  add.w r0, r0, #24
  smlad r3, r4, r6, r3
  sxtb16 r8, r6
  smlad r3, r5, r7, r3
  cmp r0, r9
  smlad r2, r4, r8, r2
  sxtb16 r8, r7
  add.w r1, r1, #16
  smlad r2, r5, r8, r2
  bne 2b
)" THIMBLE_DSP_CONV_BLOCK1_ENDS R"(
  subs r3, r3, r2
  lsls r2, r2, #1
  add r3, r4, r3, asr #7
)" THIMBLE_DSP_SCALE_PAIR THIMBLE_DSP_CONV_BLOCK1_LEAVE R"(
  .size thimble_dsp_conv_block1, . - thimble_dsp_conv_block1
  .popsection
)");

#endif  // THIMBLE_HAS_DSP_M7
