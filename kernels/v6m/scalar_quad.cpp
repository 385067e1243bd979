// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// Products of four pixels with one channel at a time. As in scalar_dot.cpp, a word holds a byte of
// two pixels. Four pixels are two words, so that a weight, which takes two cycles to load and
// extract, serves four products instead of two. 32 products take 95 cycles.
//
// The sums of the high halves must be in low registers, because ADCS adds the carry. They leave no
// low register for the address of the weights, which is in r10.

#include <cstddef>

#include "kernels/v6m/scalar_dot.h"
#include "kernels/v6m/scalar_requantize.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarDot, w) == 8 && offsetof(ScalarDot, length) == 16);
static_assert(offsetof(ScalarDot, channels) == 20 && offsetof(ScalarDot, count) == 32);

// clang-format off

// r4 and r5: two weights. The words of two pixels are added to the sum of the words and to the sum
// of the high halves, incremented by the sign of the low half.
#define TWO(high, words)   \
  "ldm r0!, {r1, r2}\n"    \
  "muls r1, r4, r1\n"      \
  "muls r2, r5, r2\n"      \
  "adds r1, r1, r2\n"      \
  "asrs r2, r1, #16\n"     \
  "adcs " high ", r2\n"    \
  "add " words ", r1\n"
#define FOUR               \
  "mov r4, r10\n"          \
  "ldm r4!, {r3}\n"        \
  "mov r10, r4\n"          \
  "sxtb r4, r3\n"          \
  "lsls r5, r3, #16\n"     \
  "asrs r5, r5, #24\n"     \
  TWO("r6", "r8")          \
  TWO("r7", "r9")          \
  "lsls r4, r3, #8\n"      \
  "asrs r4, r4, #24\n"     \
  "asrs r5, r3, #24\n"     \
  TWO("r6", "r8")          \
  TWO("r7", "r9")

extern "C" __attribute__((naked)) void thimble_v6m_dot_quad(ScalarDot*) {
  asm volatile(
      THIMBLE_V6M_ENTER
      "ldr r5, [sp]\n"
      "ldr r4, [r5, #8]\n"
      "mov r10, r4\n"
      "1:\n"
      "ldr r6, [r5, #20]\n"
      "ldr r7, [r6]\n"
      "lsls r1, r7, #16\n"
      "adds r1, r1, r7\n"
      "mov r8, r1\n"
      "mov r9, r1\n"
      "ldr r0, [r5]\n"
      "ldr r6, [r5, #16]\n"
      "mov r4, r10\n"
      "adds r4, r4, r6\n"
      "mov r11, r4\n"
      // The first iteration leaves out the first four weights if the number of fours is odd.
      "lsls r6, r6, #30\n"
      "mov r6, r7\n"
      "bcs 3f\n"
      "2:\n"
      FOUR
      "3:\n"
      FOUR
      "cmp r10, r11\n"
      "bne 2b\n"
      // Sums of the pixels: r0, r11, r9, lr.
      "mov r0, r8\n"
      "lsls r1, r6, #16\n"
      "subs r0, r0, r1\n"
      "mov r11, r6\n"
      "mov r1, r9\n"
      "lsls r2, r7, #16\n"
      "subs r1, r1, r2\n"
      "mov r9, r1\n"
      "mov lr, r7\n"
      "ldr r1, [sp]\n"
      "ldr r2, [r1, #28]\n"
      "mov r8, r2\n"
      "ldr r6, [r1, #20]\n"
      "ldrh r3, [r6, #4]\n"
      "ldrh r4, [r6, #6]\n"
      "ldr r7, [r6, #8]\n"
      "ldr r5, [r6, #12]\n"
      "adds r6, #16\n"
      "str r6, [r1, #20]\n"
      "movs r2, #1\n"
      "lsls r2, r2, #14\n"
      "adds r7, r7, r2\n"
      "ldr r6, [r1, #24]\n"
      "adds r2, r6, #1\n"
      "str r2, [r1, #24]\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("4")
      "strb r0, [r6]\n"
      "add r6, r8\n"
      "mov r0, r11\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("5")
      "strb r0, [r6]\n"
      "add r6, r8\n"
      "mov r0, r9\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("6")
      "strb r0, [r6]\n"
      "add r6, r8\n"
      "mov r0, lr\n"
      THIMBLE_V6M_REQUANTIZE_SHARED("7")
      "strb r0, [r6]\n"
      "ldr r5, [sp]\n"
      "ldr r1, [r5, #32]\n"
      "subs r1, #1\n"
      "str r1, [r5, #32]\n"
      "beq 8f\n"
      "b 1b\n"
      "8:\n"
      THIMBLE_V6M_LEAVE);
}

// clang-format on

}  // namespace thimble::kernels
#endif
