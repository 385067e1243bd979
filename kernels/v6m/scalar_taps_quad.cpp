// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// Depthwise products of four neighbouring pixels whose 3x3 windows are one column apart: six
// columns of x and three of the weights are loaded for 36 products. Weights and columns have the
// same distance, so that one index serves both. A row of taps takes 54 cycles. The four sums share
// the record of the channel, which is loaded once.

#include <cstddef>

#include "kernels/v6m/scalar_requantize.h"
#include "kernels/v6m/scalar_taps.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarTaps, x_row) == 4 && offsetof(ScalarTaps, w) == 8);
static_assert(offsetof(ScalarTaps, taps) == 12 && offsetof(ScalarTaps, channels) == 16);
static_assert(offsetof(ScalarTaps, y) == 20 && offsetof(ScalarTaps, count) == 24);

// clang-format off

// r0 row of x, r7 row of weights, r1 index, r5 x, r2-r4 weights, r8-r11 sums, r12 channels.
#define LOAD_X "ldrsb r5, [r0, r1]\n"
#define NEXT_COLUMN "add r1, r12\n"
#define ADD(w, sum)        \
  "mov r6, r5\n"           \
  "muls r6, " w ", r6\n"   \
  "add " sum ", r6\n"
#define ADD_LAST(w, sum)   \
  "muls r5, " w ", r5\n"   \
  "add " sum ", r5\n"
#define ROW                                                                              \
  "movs r1, #0\n"                                                                        \
  "ldrsb r2, [r7, r1]\n" LOAD_X ADD_LAST("r2", "r8")                                     \
  NEXT_COLUMN "ldrsb r3, [r7, r1]\n" LOAD_X ADD("r3", "r8") ADD_LAST("r2", "r9")         \
  NEXT_COLUMN "ldrsb r4, [r7, r1]\n" LOAD_X                                              \
  ADD("r4", "r8") ADD("r3", "r9") ADD_LAST("r2", "r10")                                  \
  NEXT_COLUMN "adds r7, r7, r1\n" LOAD_X                                                 \
  ADD("r4", "r9") ADD("r3", "r10") ADD_LAST("r2", "r11")                                 \
  NEXT_COLUMN LOAD_X ADD("r4", "r10") ADD_LAST("r3", "r11")                              \
  NEXT_COLUMN LOAD_X ADD_LAST("r4", "r11")

extern "C" __attribute__((naked)) void thimble_v6m_taps_quad(ScalarTaps*) {
  asm volatile(
      THIMBLE_V6M_ENTER
      "ldr r6, [sp]\n"
      "ldr r0, [r6]\n"
      "ldr r1, [r6, #24]\n"
      "adds r0, r0, r1\n"
      "str r0, [r6, #12]\n"  // end of x
      "ldr r1, [r6, #4]\n"
      "push {r1}\n"
      "1:\n"
      "ldr r5, [r6, #16]\n"
      "ldr r5, [r5]\n"
      "mov r8, r5\n"
      "mov r9, r5\n"
      "mov r10, r5\n"
      "mov r11, r5\n"
      "ldr r0, [r6]\n"
      "ldr r7, [r6, #8]\n"
      "ldr r5, [r6, #24]\n"
      "mov r12, r5\n"
      "lsls r4, r5, #3\n"
      "adds r4, r4, r5\n"
      "adds r4, r4, r7\n"
      "mov lr, r4\n"  // end of the weights
      "2:\n"
      ROW
      "ldr r6, [sp]\n"
      "adds r0, r0, r6\n"
      "cmp r7, lr\n"
      "bne 2b\n"
      "ldr r6, [sp, #4]\n"
      THIMBLE_V6M_CONSTANTS
      "mov r1, lr\n"
      "ldr r0, [r6, #16]\n"
      "ldrh r3, [r0, #4]\n"
      "ldrh r4, [r0, #6]\n"
      "ldr r7, [r0, #8]\n"
      "ldr r5, [r0, #12]\n"
      "adds r7, r7, r1\n"
      "adds r0, #16\n"
      "str r0, [r6, #16]\n"
      "ldr r0, [r6]\n"
      "adds r0, #1\n"
      "str r0, [r6]\n"
      "ldr r0, [r6, #8]\n"
      "adds r0, #1\n"
      "str r0, [r6, #8]\n"
      "ldr r0, [r6, #24]\n"
      "mov lr, r0\n"
      "ldr r0, [r6, #20]\n"
      "adds r1, r0, #1\n"
      "str r1, [r6, #20]\n"
      "mov r6, r0\n"
      "mov r0, r8\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("3")
      "strb r0, [r6]\n"
      "add r6, lr\n"
      "mov r0, r9\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("4")
      "strb r0, [r6]\n"
      "add r6, lr\n"
      "mov r0, r10\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("5")
      "strb r0, [r6]\n"
      "add r6, lr\n"
      "mov r0, r11\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("6")
      "strb r0, [r6]\n"
      "ldr r6, [sp, #4]\n"
      "ldr r0, [r6]\n"
      "ldr r1, [r6, #12]\n"
      "cmp r0, r1\n"
      "beq 7f\n"
      "b 1b\n"
      "7:\n"
      "add sp, #4\n"
      THIMBLE_V6M_LEAVE);
}

// clang-format on

}  // namespace thimble::kernels
#endif
