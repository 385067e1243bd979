// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// Depthwise products for cores with 16-bit Thumb. A window and its weights have the same layout,
// tap by tap, so that one index serves both: five instructions per tap.

#include <cstddef>

#include "kernels/v6m/scalar_requantize.h"
#include "kernels/v6m/scalar_taps.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarTaps, taps) == 12 && offsetof(ScalarTaps, count) == 24);

// clang-format off

// r5 x, r7 weights, r8 channels, r9 result - x, r10 end of x, r11 taps.
#define START                  \
  THIMBLE_V6M_ENTER            \
  "ldr r7, [sp]\n"             \
  "ldr r6, [r7, #16]\n"        \
  "ldr r5, [r7]\n"             \
  "ldr r0, [r7, #24]\n"        \
  "mov r8, r0\n"               \
  "adds r0, r0, r5\n"          \
  "mov r10, r0\n"              \
  "ldr r0, [r7, #20]\n"        \
  "subs r0, r0, r5\n"          \
  "mov r9, r0\n"               \
  "ldr r0, [r7, #12]\n"        \
  "mov r11, r0\n"              \
  "ldr r7, [r7, #8]\n"

// r0 index, r3 sum.
#define TAP                    \
  "ldrsb r1, [r5, r0]\n"       \
  "ldrsb r2, [r7, r0]\n"       \
  "muls r1, r2, r1\n"          \
  "adds r3, r3, r1\n"
#define NEXT "add r0, r8\n"

#define FINISH                       \
  THIMBLE_V6M_REQUANTIZE("r3", "3")  \
  "mov r1, r5\n"                     \
  "add r1, r9\n"                     \
  "strb r0, [r1]\n"                  \
  "adds r6, #16\n"                   \
  "adds r7, #1\n"                    \
  "adds r5, #1\n"                    \
  "cmp r5, r10\n"                    \
  "bne 1b\n"                         \
  THIMBLE_V6M_LEAVE

extern "C" __attribute__((naked)) void thimble_v6m_taps_nine(ScalarTaps*) {
  asm volatile(
      START
      "1:\n"
      "ldr r3, [r6]\n"
      "movs r0, #0\n"
      TAP NEXT TAP NEXT TAP NEXT TAP NEXT TAP NEXT TAP NEXT TAP NEXT TAP NEXT TAP
      FINISH);
}

extern "C" __attribute__((naked)) void thimble_v6m_taps_any(ScalarTaps*) {
  asm volatile(
      START
      "1:\n"
      "ldr r3, [r6]\n"
      "movs r0, #0\n"
      "mov r4, r11\n"
      "2:\n"
      TAP NEXT
      "subs r4, #1\n"
      "bne 2b\n"
      FINISH);
}

// clang-format on

}  // namespace thimble::kernels
#endif
