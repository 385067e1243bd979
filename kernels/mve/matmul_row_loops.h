// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of matmul_row.h as assembly text, for weights of 8 and of 4 bits. The file that
// includes this defines THIMBLE_TWO(a, weights, first, second), 16 products of two channels,
// THIMBLE_ONE, those of the first of them, THIMBLE_STEP_BYTES, the size of a step of 16 products of
// eight channels, and THIMBLE_SPLIT_EIGHT and THIMBLE_SPLIT_FOUR, which follow the sums of eight
// and four channels.

#include <cstddef>

#include "kernels/mve/matmul_row.h"

// clang-format off
// Eight channels, depth 16, x in q0; `a` adds to the sums.
#define THIMBLE_EIGHT(a) \
  THIMBLE_TWO(a, "r3", "r0", "r2") \
  THIMBLE_TWO(a, "r5", "r4", "r6") \
  THIMBLE_TWO(a, "r7", "r8", "r10") \
  THIMBLE_TWO(a, "r9", "r12", "lr")

#define THIMBLE_LOAD "vldrb.8 q0, [r1], #16\n"

// The weights of eight channels begin at r9, with r10 bytes per pair. The loop computes depth 64
// and is entered at the address in [sp]. r11 is one less than the end of the loop if a depth of
// less than 16 is left, so that one comparison ends the loop and finds this rest.
#define THIMBLE_SUM_EIGHT \
  "mov r3, r9\n" \
  "add r5, r3, r10\n" \
  "add r7, r5, r10\n" \
  "add r9, r7, r10\n" \
  "ldrd r1, r11, [r11, #24]\n" \
  "cmp r1, r11\n" \
  "bhi 7f\n" \
  THIMBLE_LOAD \
  THIMBLE_EIGHT("") \
  "ldr pc, [sp]\n" \
  "2:\n" \
  THIMBLE_LOAD \
  THIMBLE_EIGHT("a") \
  THIMBLE_LOAD \
  THIMBLE_EIGHT("a") \
  THIMBLE_LOAD \
  THIMBLE_EIGHT("a") \
  THIMBLE_LOAD \
  THIMBLE_EIGHT("a") \
  "3:\n" \
  "cmp r11, r1\n" \
  "bhi 2b\n" \
  "bne 5f\n"

#define THIMBLE_REST_OF_EIGHT \
  "vpst\n" \
  "vldrbt.8 q0, [r1]\n" \
  THIMBLE_EIGHT("a")

// Pushes the address in the loop at which (depth / 16 - 1) modulo 4 steps are left. r0:
// blocks.
#define THIMBLE_LOOP_ENTRY \
  "ldr r3, [r0, #48]\n" \
  "subs r3, #16\n" \
  "ubfx r3, r3, #4, #2\n" \
  "movs r2, #" THIMBLE_STEP_BYTES "\n" \
  "adr.w r4, 3f\n" \
  "mls r2, r3, r2, r4\n" \
  "orr r2, r2, #1\n" \
  "push {r2, r3}\n"

#define THIMBLE_NO_SIXTEEN \
  "mov r0, #0\n" \
  "mov r2, r0\n" \
  "mov r4, r0\n" \
  "mov r6, r0\n" \
  "mov r8, r0\n" \
  "mov r10, r0\n" \
  "mov r12, r0\n" \
  "mov lr, r0\n"

// Sums of four channels, or of two if r0 is at most 2; r0 is the number of channels.
#define THIMBLE_SUM_FOUR \
  "mov r3, r9\n" \
  "add r5, r3, r10\n" \
  "add r9, r5, r10\n" \
  "ldr r1, [r11, #24]\n" \
  "ldr r7, [r11, #48]\n" \
  "cmp r0, #2\n" \
  "mov r0, #0\n" \
  "mov r2, r0\n" \
  "mov r4, r0\n" \
  "mov r6, r0\n" \
  "ble 12f\n" \
  "dlstp.8 lr, r7\n" \
  "11:\n" \
  THIMBLE_LOAD \
  THIMBLE_TWO("a", "r3", "r0", "r2") \
  THIMBLE_TWO("a", "r5", "r4", "r6") \
  "letp lr, 11b\n" \
  "b 14f\n" \
  "12:\n" \
  "dlstp.8 lr, r7\n" \
  "13:\n" \
  THIMBLE_LOAD \
  THIMBLE_ONE("r3", "r0") \
  THIMBLE_ONE("r5", "r4") \
  "letp lr, 13b\n" \
  "14:\n"

// Requantizes four sums. r3: quads; r5: zero point of y; r6: negative_rounding_correction
// (mve/requant.h).
#define THIMBLE_QUAD(sums) \
  "vldrw.32 q2, [r3], #16\n" \
  "vadd.i32 " sums ", " sums ", q2\n" \
  "vldrw.32 q2, [r3], #16\n" \
  "vqrdmulh.s32 " sums ", " sums ", q2\n" \
  "vldrb.s32 q2, [r3], #4\n" \
  "vqdmlah.s32 " sums ", " sums ", r6\n" \
  "vrshl.s32 " sums ", " sums ", q2\n" \
  "vadd.i32 " sums ", " sums ", r5\n" \
  "vmax.s32 " sums ", " sums ", q6\n" \
  "vmin.s32 " sums ", " sums ", q7\n"

// Moves eight sums to q3 and q4, requantizes and stores them, in the order in which the model of
// src/cycles needs the fewest cycles; registers as in THIMBLE_QUAD, r4: y. Sets the flags for the
// end of the groups of eight.
#define THIMBLE_FINISH_EIGHT \
  "vmov q4[2], q4[0], r8, r10\n" \
  "ldr r11, [sp, #8]\n" \
  "vmov q3[2], q3[0], r0, r2\n" \
  "vmov q3[3], q3[1], r4, r6\n" \
  "ldm r11, {r3, r4, r5, r6, r8, r10}\n" \
  "vmov q4[3], q4[1], r12, lr\n" \
  "vldrw.32 q0, [r3]\n" \
  "vadd.i32 q3, q3, q0\n" \
  "vldrw.32 q1, [r3, #16]\n" \
  "vqrdmulh.s32 q3, q3, q1\n" \
  "vldrw.32 q2, [r3, #36]\n" \
  "vqdmlah.s32 q3, q3, r6\n" \
  "vadd.i32 q4, q4, q2\n" \
  "vldrb.s32 q0, [r3, #32]\n" \
  "vrshl.s32 q3, q3, q0\n" \
  "vldrw.32 q5, [r3, #52]\n" \
  "vadd.i32 q3, q3, r5\n" \
  "vqrdmulh.s32 q4, q4, q5\n" \
  "vmax.s32 q3, q3, q6\n" \
  "vqdmlah.s32 q4, q4, r6\n" \
  "vmin.s32 q3, q3, q7\n" \
  "vldrb.s32 q2, [r3, #68]\n" \
  "vrshl.s32 q4, q4, q2\n" \
  "adds r3, #72\n" \
  "vadd.i32 q4, q4, r5\n" \
  "cmp r3, r8\n" \
  "vmax.s32 q4, q4, q6\n" \
  "vstrb.32 q3, [r4], #4\n" \
  "vmin.s32 q4, q4, q7\n" \
  "vstrb.32 q4, [r4], #4\n" \
  "strd r3, r4, [r11]\n"

#define THIMBLE_MULTIPLY_ROW \
  "push {r4-r11, lr}\n" \
  "vpush {d8-d15}\n" \
  "mov r11, r0\n" \
  "ldrd r1, r2, [r0, #40]\n" \
  "vdup.32 q6, r1\n" \
  "vdup.32 q7, r2\n" \
  "ldrd r1, r9, [r0, #32]\n" \
  "vctp.8 r1\n"  /* predicate for `part` */ \
  "ldr r10, [r0, #20]\n" \
  "push {r0, r1}\n" \
  "ldr r2, [r0]\n" \
  "ldr r3, [r0, #16]\n" \
  "cmp r2, r3\n" \
  "beq 8f\n" \
  THIMBLE_LOOP_ENTRY \
  "1:\n" \
  THIMBLE_SUM_EIGHT \
  "6:\n" \
  THIMBLE_SPLIT_EIGHT \
  THIMBLE_FINISH_EIGHT \
  "bne 1b\n" \
  "add sp, #8\n" \
  "8:\n" \
  "ldr r0, [r11, #52]\n" \
  "cmp r0, #0\n" \
  "beq 10f\n" \
  "9:\n"  /* up to four channels */ \
  THIMBLE_SUM_FOUR \
  THIMBLE_SPLIT_FOUR \
  "vmov q3[2], q3[0], r0, r2\n" \
  "vmov q3[3], q3[1], r4, r6\n" \
  "ldm r11, {r3, r4, r5, r6, r8, r10}\n" \
  "ldr r0, [r11, #52]\n" \
  THIMBLE_QUAD("q3") \
  "vctp.32 r0\n" \
  "vpst\n" \
  "vstrbt.32 q3, [r4], #4\n" \
  "strd r3, r4, [r11]\n" \
  "subs r0, #4\n" \
  "str r0, [r11, #52]\n" \
  "bgt 9b\n" \
  "10:\n" \
  "add sp, #8\n" \
  "vpop {d8-d15}\n" \
  "pop {r4-r11, pc}\n" \
  "7:\n" \
  THIMBLE_NO_SIXTEEN \
  "5:\n" \
  THIMBLE_REST_OF_EIGHT \
  "b 6b\n"

// clang-format on

namespace thimble::kernels::mve {

static_assert(offsetof(RowBlocks, x) == 24 && offsetof(RowBlocks, loop_end) == 28);
static_assert(offsetof(RowBlocks, depth_tail) == 32);
static_assert(offsetof(RowBlocks, weights) == 36);
static_assert(offsetof(RowBlocks, min) == 40);
static_assert(offsetof(RowBlocks, depth) == 48);
static_assert(offsetof(RowBlocks, rest) == 52);

}  // namespace thimble::kernels::mve
