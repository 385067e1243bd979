// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of matmul_block.h as assembly text, for weights of 8 and of 4 bits. The file that
// includes this defines THIMBLE_STEP(a), 16 products of two channels and three pixels, and
// THIMBLE_SPLIT, which follows the sums of a pair of channels.

#include <cstddef>

#include "kernels/mve/matmul_block.h"
#include "kernels/mve/matmul_finish.h"

// clang-format off
// Computes two channels of three pixels.
#define THIMBLE_PAIR \
  "ldm r11, {r1, r3, r5, lr}\n" \
  "vldrb.8 q0, [r9]\n" \
  THIMBLE_STEP("") \
  "wlstp.8 lr, lr, 2f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "letp lr, 1b\n" \
  "2:\n"

// A row of the windows after the first row; `done` is the label after the last row.
#define THIMBLE_WINDOW_ROW(done) \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "wls lr, lr, " done "\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "le lr, 1b\n"

// As THIMBLE_PAIR, with windows of several rows. The code of the last row of three ends without a
// taken branch.
#define THIMBLE_WINDOW_PAIR \
  "add r12, r11, #40\n" \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "vldrb.8 q0, [r9]\n" \
  THIMBLE_STEP("") \
  "wls lr, lr, 2f\n" \
  "1:\n" \
  THIMBLE_STEP("a") \
  "le lr, 1b\n" \
  "2:\n" \
  THIMBLE_WINDOW_ROW("3f") \
  THIMBLE_WINDOW_ROW("3f") \
  "ldm r12!, {r1, r3, r5, lr}\n" \
  "cmp lr, #0\n" \
  "bne 1b\n" \
  "3:\n"

#define THIMBLE_MULTIPLY_PIXELS \
  "push {r4-r11, lr}\n" \
  "vpush {d8-d15}\n" \
  "mov r11, r0\n" \
  "add r12, r0, #16\n" \
  "ldrd r1, r2, [r11, #60]\n" \
  "vdup.32 q6, r1\n" \
  "vdup.32 q7, r2\n" \
  "3:\n"  /* three pixels */ \
  "ldrd r9, r7, [r11, #40]\n" \
  "4:\n"  /* four channels */ \
  THIMBLE_PAIR \
  THIMBLE_SPLIT THIMBLE_SUMS("2", "0") \
  THIMBLE_PAIR \
  THIMBLE_SPLIT THIMBLE_FINISH("r12") \
  "bne 4b\n" \
  "ldrd r6, r7, [r11, #48]\n"  /* blocks, x_step */ \
  "subs r6, #1\n" \
  "beq 6f\n" \
  "ldr r8, [r11, #56]\n"  /* y_step */ \
  "ldm r11, {r3, r4, r5}\n" \
  "add r3, r7\n" \
  "add r4, r7\n" \
  "add r5, r7\n" \
  "stm r11, {r3, r4, r5}\n" \
  "add r0, r8\n" \
  "add r1, r8\n" \
  "add r2, r8\n" \
  "stm r12, {r0, r1, r2}\n" \
  "str r6, [r11, #48]\n" \
  "b 3b\n" \
  "6:\n" \
  "vpop {d8-d15}\n" \
  "pop {r4-r11, pc}\n"

#define THIMBLE_MULTIPLY_WINDOWS \
  "push {r4-r11, lr}\n" \
  "vpush {d8-d15}\n" \
  "mov r11, r0\n" \
  "ldrd r1, r2, [r11, #32]\n" \
  "vdup.32 q6, r1\n" \
  "vdup.32 q7, r2\n" \
  "ldrd r9, r7, [r11, #24]\n" \
  "4:\n"  /* four channels */ \
  THIMBLE_WINDOW_PAIR \
  THIMBLE_SPLIT THIMBLE_SUMS("2", "0") \
  THIMBLE_WINDOW_PAIR \
  THIMBLE_SPLIT THIMBLE_FINISH("r11") \
  "bne 4b\n" \
  "vpop {d8-d15}\n" \
  "pop {r4-r11, pc}\n"

// clang-format on

namespace thimble::kernels::mve {

static_assert(offsetof(PixelBlocks, y) == 16);
static_assert(offsetof(PixelBlocks, weights) == 40);
static_assert(offsetof(PixelBlocks, blocks) == 48);
static_assert(offsetof(PixelBlocks, x_step) == 52);
static_assert(offsetof(PixelBlocks, min) == 60);
static_assert(offsetof(WindowBlock, weights) == 24);
static_assert(offsetof(WindowBlock, min) == 32);
static_assert(offsetof(WindowBlock, rows) == 40);

}  // namespace thimble::kernels::mve
