// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly that the loops for the Cortex-M7 (files named *_m7.cpp) and those for other cores share.

// clang-format off
// Requantizes the results of two channels in r2 and r3 (conv_blocks.cpp). r5, r7: multipliers;
// r6, r8: shifts; r12: zero point.
#define THIMBLE_DSP_SCALE_PAIR \
  "smmulr r2, r2, r5\n" \
  "smmulr r3, r3, r7\n" \
  "add r2, r2, r2, asr #31\n" \
  "add r3, r3, r3, asr #31\n" \
  "smmlar r2, r2, r6, r12\n" \
  "smmlar r3, r3, r8, r12\n" \
  "ssat r2, #8, r2\n" \
  "ssat r3, #8, r3\n"

// thimble_dsp_conv_block1: to its loop over the columns.
#define THIMBLE_DSP_CONV_BLOCK1_ENTER \
  "push {r4-r11, lr}\n" \
  "ldr lr, [r0]\n" \
  "ldrd r9, r10, [r0, #4]\n" \
  "ldr r11, [r0, #12]\n" \
  "ldr r12, [r0, #20]\n" \
  "1:\n" \
  "ldr r2, [r1], #8\n" \
  "mov r0, lr\n" \
  "mov r3, r2\n" \
  "2:\n"

// thimble_dsp_conv_block1: loads the five words at the end of a pair to r4-r8.
#define THIMBLE_DSP_CONV_BLOCK1_ENDS \
  "ldr r5, [r1, #8]\n" \
  "ldr r6, [r1, #16]\n" \
  "ldr r7, [r1, #24]\n" \
  "ldr r8, [r1, #32]\n" \
  "ldr r4, [r1], #40\n"

// thimble_dsp_conv_block1: from the results of a pair of channels.
#define THIMBLE_DSP_CONV_BLOCK1_LEAVE \
  "strb r3, [r10, #1]\n" \
  "strb r2, [r10], #4\n" \
  "cmp r10, r11\n" \
  "bne 1b\n" \
  "mov r0, r1\n" \
  "pop {r4-r11, pc}\n"

// thimble_dsp_depthwise_run: to its loop over the blocks of a pixel.
#define THIMBLE_DSP_DEPTHWISE_ENTER \
  "push {r4-r11, lr}\n" \
  "sub sp, sp, #36\n" \
  "ldmia r0, {r2-r9}\n" \
  "mov r12, r3\n" \
  "subs r4, r4, r5\n" \
  "adds r3, r5, r6\n" \
  "strd r2, r4, [sp]\n" \
  "strd r3, r9, [sp, #8]\n" \
  "strd r1, r7, [sp, #16]\n" \
  "strd r8, r6, [sp, #24]\n" \
  "mov r2, r5\n"

// thimble_dsp_depthwise_run: from the end of a pixel.
#define THIMBLE_DSP_DEPTHWISE_NEXT_PIXEL \
  "ldr r3, [sp, #20]\n" \
  "subs r3, r3, #1\n" \
  "beq 3f\n" \
  "str r3, [sp, #20]\n" \
  "ldrd r4, r5, [sp, #24]\n" \
  "ldr r6, [sp, #4]\n" \
  "subs r6, r6, r4\n" \
  "str r6, [sp, #4]\n" \
  "add r2, r2, r4\n" \
  "add lr, r2, r5\n" \
  "str lr, [sp, #8]\n" \
  "ldr r1, [sp, #16]\n" \
  "b 1b\n" \
  "3:\n" \
  "add sp, sp, #36\n" \
  "pop {r4-r11, pc}\n"
// clang-format on
