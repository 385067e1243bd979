// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V7M
// Depthwise products for Thumb-2 cores without DSP instructions: two loads and an MLA per tap.
// Weights and windows have the same layout, tap by tap. For 3x3 windows, six pointers advance along
// the channels; the other taps are one or two channel counts away, which the addressing mode of a
// load adds at no cost. Two neighbouring windows share weights and half of the image: 21 loads for
// 18 products.

#include <cstddef>

#include "kernels/v7m/scalar_taps.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarTaps, taps) == 12 && offsetof(ScalarTaps, count) == 24);

// clang-format off

// r1 channels, r2 record, r3 result; clobbers r11 and r12.
#define REQUANTIZE(acc)                      \
  "lsl " acc ", " acc ", #1\n"               \
  "ldr r12, [r2, #4]\n"                      \
  "smull r11, r12, " acc ", r12\n"           \
  "ldr " acc ", [r2, #8]\n"                  \
  "adds r11, r11, r11\n"                     \
  "adc " acc ", r12, " acc "\n"              \
  "ldr r11, [r2, #12]\n"                     \
  "add " acc ", " acc ", r12, asr #31\n"     \
  "asr " acc ", " acc ", r11\n"              \
  "ssat " acc ", #8, " acc "\n"

#define ROW(x, w)                             \
  "ldrsb r11, [" x ", r1]\n"                  \
  "ldrsb r12, [" w ", r1]\n"                  \
  "mla r0, r11, r12, r0\n"                    \
  "ldrsb r11, [" x ", r1, lsl #1]\n"          \
  "ldrsb r12, [" w ", r1, lsl #1]\n"          \
  "mla r0, r11, r12, r0\n"                    \
  "ldrsb r11, [" x "], #1\n"                  \
  "ldrsb r12, [" w "], #1\n"                  \
  "mla r0, r11, r12, r0\n"

extern "C" __attribute__((naked)) void thimble_v7m_taps_nine(ScalarTaps*) {
  asm volatile(
      ".syntax unified\n"
      "push {r4-r11, lr}\n"
      "ldr r1, [r0, #24]\n"
      "ldrd r2, r3, [r0, #16]\n"
      "ldrd r4, r5, [r0]\n"
      "ldr r7, [r0, #8]\n"
      "add r6, r4, r5, lsl #1\n"
      "add r5, r5, r4\n"
      "add r9, r1, r1, lsl #1\n"
      "add r8, r7, r9\n"
      "add r9, r9, r8\n"
      "add r10, r3, r1\n"
      "1:\n"
      "ldr r0, [r2]\n"
      ROW("r4", "r7") ROW("r5", "r8") ROW("r6", "r9")
      REQUANTIZE("r0")
      "strb r0, [r3], #1\n"
      "add r2, r2, #16\n"
      "cmp r3, r10\n"
      "bne 1b\n"
      "pop {r4-r11, pc}\n");
}

// lr holds three times r1.
#define ROW_OF_TWO(x, w)               \
  "ldrsb r11, [" x ", lr]\n"           \
  "ldrsb r12, [" w ", r1, lsl #1]\n"   \
  "mla r10, r11, r12, r10\n"           \
  "ldrsb r11, [" x ", r1, lsl #1]\n"   \
  "mla r0, r11, r12, r0\n"             \
  "ldrsb r12, [" w ", r1]\n"           \
  "mla r10, r11, r12, r10\n"           \
  "ldrsb r11, [" x ", r1]\n"           \
  "mla r0, r11, r12, r0\n"             \
  "ldrsb r12, [" w "], #1\n"           \
  "mla r10, r11, r12, r10\n"           \
  "ldrsb r11, [" x "], #1\n"           \
  "mla r0, r11, r12, r0\n"

extern "C" __attribute__((naked)) void thimble_v7m_taps_pair(ScalarTaps*) {
  asm volatile(
      ".syntax unified\n"
      "push {r3-r11, lr}\n"
      "ldr r1, [r0, #24]\n"
      "ldrd r2, r3, [r0, #16]\n"
      "ldrd r4, r5, [r0]\n"
      "ldr r7, [r0, #8]\n"
      "add r6, r4, r5, lsl #1\n"
      "add r5, r5, r4\n"
      "add lr, r1, r1, lsl #1\n"
      "add r8, r7, lr\n"
      "add r9, r8, lr\n"
      "add r10, r3, r1\n"
      "str r10, [sp]\n"
      "1:\n"
      "ldr r0, [r2]\n"
      "mov r10, r0\n"
      ROW_OF_TWO("r4", "r7") ROW_OF_TWO("r5", "r8") ROW_OF_TWO("r6", "r9")
      REQUANTIZE("r0") REQUANTIZE("r10")
      "strb r10, [r3, r1]\n"
      "strb r0, [r3], #1\n"
      "add r2, r2, #16\n"
      "ldr r11, [sp]\n"
      "cmp r3, r11\n"
      "bne 1b\n"
      "pop {r3-r11, pc}\n");
}

extern "C" __attribute__((naked)) void thimble_v7m_taps_any(ScalarTaps*) {
  asm volatile(
      ".syntax unified\n"
      "push {r4-r11, lr}\n"
      "ldr r1, [r0, #24]\n"
      "ldrd r2, r3, [r0, #16]\n"
      "ldr r4, [r0]\n"
      "ldrd r7, r5, [r0, #8]\n"
      "add r10, r3, r1\n"
      "1:\n"
      "ldr r0, [r2]\n"
      "mov r6, r4\n"
      "mov r8, r7\n"
      "mov r9, r5\n"
      "2:\n"
      "ldrsb r11, [r6]\n"
      "ldrsb r12, [r8]\n"
      "add r6, r6, r1\n"
      "add r8, r8, r1\n"
      "mla r0, r11, r12, r0\n"
      "subs r9, r9, #1\n"
      "bne 2b\n"
      REQUANTIZE("r0")
      "strb r0, [r3], #1\n"
      "add r2, r2, #16\n"
      "add r4, r4, #1\n"
      "add r7, r7, #1\n"
      "cmp r3, r10\n"
      "bne 1b\n"
      "pop {r4-r11, pc}\n");
}

// clang-format on

}  // namespace thimble::kernels
#endif
