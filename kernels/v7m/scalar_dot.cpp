// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V7M
// A product costs a load and an MLA, so each loaded value should be used several times. Three rows
// of x by two rows of weights need five loads for six products, 1.9 instructions per product, and
// use all registers. Requantization needs seven instructions. With acc doubled, the high word of
// SMULL plus the carry of the low word is the rounded c of abi/matmul_scalar.h. Adding the sign as
// a shifted operand costs nothing.
//
// All loops are in assembly, because no compiler keeps 14 values in registers.

#include <cstddef>

#include "kernels/v7m/scalar_dot.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarDot, channels) == 20 && offsetof(ScalarDot, count) == 32);

// clang-format off

// Sums: r0-r2 channel a of the three rows, r3-r5 channel b; r6 x, r7 its stride, r8 and r9 weights.
#define STEP                     \
  "ldrsb r11, [r8], #1\n"        \
  "ldrsb r12, [r9], #1\n"        \
  "ldrsb lr, [r6, r7]\n"         \
  "mla r1, lr, r11, r1\n"        \
  "mla r4, lr, r12, r4\n"        \
  "ldrsb lr, [r6, r7, lsl #1]\n" \
  "mla r2, lr, r11, r2\n"        \
  "mla r5, lr, r12, r5\n"        \
  "ldrsb lr, [r6], #1\n"         \
  "mla r0, lr, r11, r0\n"        \
  "mla r3, lr, r12, r3\n"

// r10 mult, r11 round, lr shift; clobbers r9 and r12.
#define REQUANTIZE(acc)                  \
  "lsl " acc ", " acc ", #1\n"           \
  "smull r9, r12, " acc ", r10\n"        \
  "adds r9, r9, r9\n"                    \
  "adc " acc ", r12, r11\n"              \
  "add " acc ", " acc ", r12, asr #31\n" \
  "asr " acc ", " acc ", lr\n"           \
  "ssat " acc ", #8, " acc "\n"

extern "C" __attribute__((naked)) void thimble_v7m_dot_block(ScalarDot*) {
  asm volatile(
      ".syntax unified\n"
      "push {r0, r4-r11, lr}\n"
      "mov r12, r0\n"
      "1:\n"
      "ldm r12, {r6-r11}\n"  // x, stride, weights, stride, length, channels
      "ldr r0, [r11]\n"
      "ldr r3, [r11, #16]\n"
      "add r9, r9, r8\n"
      "tst r10, #4\n"
      "add r10, r10, r6\n"
      "mov r1, r0\n"
      "mov r2, r0\n"
      "mov r4, r3\n"
      "mov r5, r3\n"
      "bne 3f\n"
      "2:\n"
      STEP STEP STEP STEP
      "3:\n"
      STEP STEP STEP STEP
      "cmp r6, r10\n"
      "bne 2b\n"
      "ldr r12, [sp]\n"
      "add r8, r12, #20\n"
      "ldm r8, {r6, r7, r8}\n"  // channels, y, its stride
      "ldm r6!, {r9, r10, r11, lr}\n"
      REQUANTIZE("r0") REQUANTIZE("r1") REQUANTIZE("r2")
      "strb r1, [r7, r8]\n"
      "strb r2, [r7, r8, lsl #1]\n"
      "strb r0, [r7], #1\n"
      "ldm r6!, {r9, r10, r11, lr}\n"
      REQUANTIZE("r3") REQUANTIZE("r4") REQUANTIZE("r5")
      "strb r4, [r7, r8]\n"
      "strb r5, [r7, r8, lsl #1]\n"
      "strb r3, [r7], #1\n"
      "ldr r12, [sp]\n"
      "ldrd r8, r9, [r12, #8]\n"
      "ldr r10, [r12, #32]\n"
      "add r8, r8, r9, lsl #1\n"
      "sub r10, r10, #2\n"
      "cmp r10, #1\n"
      "bne 4f\n"
      // One channel remains: compute the last two channels again.
      "sub r8, r8, r9\n"
      "sub r6, r6, #16\n"
      "sub r7, r7, #1\n"
      "mov r10, #2\n"
      "4:\n"
      "str r8, [r12, #8]\n"
      "strd r6, r7, [r12, #20]\n"
      "str r10, [r12, #32]\n"
      "cmp r10, #0\n"
      "bne 1b\n"
      "pop {r0, r4-r11, pc}\n");
}

// r0-r3: sums of four channels of one row; r6 x, r8 weights of the first channel, r9 their stride,
// r7 weights of the last channel.
#define STEP4                     \
  "ldrsb r4, [r6], #1\n"          \
  "ldrsb r5, [r8, r9]\n"          \
  "ldrsb r11, [r8, r9, lsl #1]\n" \
  "mla r1, r4, r5, r1\n"          \
  "ldrsb r5, [r7], #1\n"          \
  "mla r2, r4, r11, r2\n"         \
  "ldrsb r11, [r8], #1\n"         \
  "mla r3, r4, r5, r3\n"          \
  "mla r0, r4, r11, r0\n"

#define STEP1            \
  "ldrsb r4, [r6], #1\n" \
  "ldrsb r5, [r8], #1\n" \
  "mla r0, r4, r5, r0\n"

#define FINISH(acc)               \
  "ldm r6!, {r9, r10, r11, lr}\n" \
  REQUANTIZE(acc)                 \
  "strb " acc ", [r7], #1\n"

#define BY_FOUR \
  ".syntax unified\n" \
  "push {r0, r4-r11, lr}\n" \
  "mov r12, r0\n" \
  "ldr lr, [r12, #32]\n" \
  "subs lr, lr, #4\n" \
  "blo 5f\n" \
  "1:\n" \
  "str lr, [r12, #32]\n" \
  "ldm r12, {r6-r11}\n" /* x, stride, weights, stride, length, channels */ \
  "ldr r0, [r11]\n" \
  "ldr r1, [r11, #16]\n" \
  "ldr r2, [r11, #32]\n" \
  "ldr r3, [r11, #48]\n" \
  "add r7, r9, r9, lsl #1\n" \
  "add r7, r7, r8\n" \
  "add r12, r6, r10\n" \
  "ands r10, r10, #7\n" \
  "beq 3f\n" \
  "2:\n" \
  STEP4 \
  "subs r10, r10, #1\n" \
  "bne 2b\n" \
  "cmp r6, r12\n" \
  "beq 4f\n" \
  "3:\n" \
  STEP4 STEP4 STEP4 STEP4 STEP4 STEP4 STEP4 STEP4 \
  "cmp r6, r12\n" \
  "bne 3b\n" \
  "4:\n" \
  "ldr r12, [sp]\n" \
  "ldrd r8, r9, [r12, #8]\n" \
  "add r8, r8, r9, lsl #2\n" \
  "str r8, [r12, #8]\n" \
  "ldrd r6, r7, [r12, #20]\n" \
  FINISH("r0") FINISH("r1") FINISH("r2") FINISH("r3") \
  "ldr r12, [sp]\n" \
  "strd r6, r7, [r12, #20]\n" \
  "ldr lr, [r12, #32]\n" \
  "subs lr, lr, #4\n" \
  "bhs 1b\n"

#define BY_ONE \
  "5:\n" \
  "adds lr, lr, #4\n" \
  "beq 9f\n" \
  "6:\n" \
  "str lr, [r12, #32]\n" \
  "ldm r12, {r6-r11}\n" \
  "ldr r0, [r11]\n" \
  "add r9, r9, r8\n" \
  "str r9, [r12, #8]\n" \
  "add r9, r6, r10\n" \
  "ands r10, r10, #7\n" \
  "beq 8f\n" \
  "7:\n" \
  STEP1 \
  "subs r10, r10, #1\n" \
  "bne 7b\n" \
  "cmp r6, r9\n" \
  "beq 10f\n" \
  "8:\n" \
  STEP1 STEP1 STEP1 STEP1 STEP1 STEP1 STEP1 STEP1 \
  "cmp r6, r9\n" \
  "bne 8b\n" \
  "10:\n" \
  "ldrd r6, r7, [r12, #20]\n" \
  FINISH("r0") \
  "ldr r12, [sp]\n" \
  "strd r6, r7, [r12, #20]\n" \
  "ldr lr, [r12, #32]\n" \
  "subs lr, lr, #1\n" \
  "bne 6b\n" \
  "9:\n" \
  "pop {r0, r4-r11, pc}\n"

extern "C" __attribute__((naked)) void thimble_v7m_dot_single(ScalarDot*) {
  asm volatile(BY_FOUR BY_ONE);
}

// clang-format on

}  // namespace thimble::kernels
#endif
