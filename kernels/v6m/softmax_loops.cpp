// SPDX-License-Identifier: Apache-2.0
// Computes, for each row, the maximum, the sum of the exponentials, and the results. x and y are
// accessed from the end of the row by an index that counts up to zero. For rows of up to 16
// elements the exponentials are stored on the stack; for longer rows they are looked up twice.
//
// The reciprocal of the sum has 16 bits; it is computed by a table and one Newton step, with an
// error of at most 3. An exponential is truncated to 16 bits. The product therefore has two error
// bounds: it is at most 2 * exp (16 bits of exp) too large, and at most 2 * exp plus half a
// reciprocal too small. If both bounds give the same result, it is correct.

#include "kernels/v6m/softmax_loops.h"

#include <cstddef>

#include "kernels/isa.h"

#if THIMBLE_HAS_V6M

namespace thimble::kernels {

static_assert(offsetof(abi::SoftmaxRows, rows) == 0 && offsetof(abi::SoftmaxRows, length) == 4);
static_assert(offsetof(abi::SoftmaxRows, exp) == 20);

namespace {

constexpr SoftmaxGuesses guesses() {
  SoftmaxGuesses result = {};
  for (uint32_t i = 0; i < 128; ++i) {
    const uint32_t middle = (128 + i) * 256 + 128;
    const uint32_t guess = ((1U << 24) / middle + 1) / 2;
    result.of[i] = static_cast<uint8_t>(guess < 255 ? guess : 255);
  }
  return result;
}

}  // namespace

extern "C" constexpr SoftmaxGuesses thimble_v6m_softmax_guesses = guesses();

// clang-format off

// r4: 16 bits of the exponential; `near`: the register of the reciprocal. The bounds are computed
// in r4 and r6, in units of 1 / 2^right; the result is in r6.
#define BOUNDS(near, right) \
  "lsls r5, r4, #1\n"       \
  "muls r4, " near "\n"     \
  "lsrs r4, r4, #1\n"       \
  "add r4, r12\n"           \
  "subs r6, r4, r5\n"       \
  "adds r4, r4, r5\n"       \
  "add r4, lr\n"            \
  right                     \
  "cmp r4, r6\n"

#define STORE               \
  "subs r6, #128\n"         \
  "strb r6, [r3, r2]\n"     \
  "adds r2, #1\n"

// Stack offsets: 0 exponentials, 64 end of x, 68 end of y, 72 maximum, 76 sum, 80 negative length,
// 84 table, 88 remaining rows.
#define ENTER \
  ".syntax unified\n" \
  "push {r4-r7, lr}\n" \
  "sub sp, #92\n" \
  "ldm r0!, {r3, r4, r7}\n" \
  "ldm r4!, {r1, r2}\n" \
  "adds r4, #12\n" \
  "str r1, [sp, #88]\n" \
  "rsbs r1, r2, #0\n" \
  "str r1, [sp, #80]\n" \
  "str r4, [sp, #84]\n"

// Input: r3, r7: the row in x and y; r1: the negative length. Output: r3: the maximum. Elements are
// compared in pairs; with an odd length the first one is compared alone.
#define LARGEST \
  "1:\n" \
  "subs r0, r3, r1\n" \
  "subs r7, r7, r1\n" \
  "str r0, [sp, #64]\n" \
  "str r7, [sp, #68]\n" \
  "ldrsb r3, [r0, r1]\n" \
  "adds r4, r0, #1\n" \
  "adds r2, r1, #1\n" \
  "lsrs r2, r2, #1\n" \
  "lsls r2, r2, #1\n" \
  "2:\n" \
  "ldrsb r6, [r0, r2]\n" \
  "cmp r6, r3\n" \
  "ble 3f\n" \
  "mov r3, r6\n" \
  "3:\n" \
  "ldrsb r6, [r4, r2]\n" \
  "cmp r6, r3\n" \
  "ble 4f\n" \
  "mov r3, r6\n" \
  "4:\n" \
  "adds r2, #2\n" \
  "bne 2b\n"

// r6: the sum of the exponentials, each shifted right by 12 and rounded by its bit 11.
#define SUM \
  "str r3, [sp, #72]\n" \
  "mov r2, r1\n" \
  "ldr r5, [sp, #84]\n" \
  "movs r6, #16\n" \
  "cmn r1, r6\n" \
  "blt 6f\n" \
  "movs r6, #0\n" \
  "mov r7, sp\n" \
  "5:\n" \
  "ldrsb r4, [r0, r2]\n" \
  "subs r4, r3, r4\n" \
  "lsls r4, r4, #2\n" \
  "ldr r4, [r5, r4]\n" \
  "lsrs r1, r4, #15\n" \
  "stm r7!, {r1}\n" \
  "lsrs r4, r4, #12\n" \
  "adcs r6, r4\n" \
  "adds r2, #1\n" \
  "bne 5b\n" \
  "b 8f\n" \
  "6:\n" \
  "movs r6, #0\n" \
  "7:\n" \
  "ldrsb r4, [r0, r2]\n" \
  "subs r4, r3, r4\n" \
  "lsls r4, r4, #2\n" \
  "ldr r4, [r5, r4]\n" \
  "lsrs r4, r4, #12\n" \
  "adcs r6, r4\n" \
  "adds r2, #1\n" \
  "bne 7b\n" \
  "8:\n" \
  "str r6, [sp, #76]\n"

// r7: the right shift of a product, 23 if the sum is less than 2. From 32 on the result of the
// maximum is below 1/512.
#define SHIFT \
  "movs r7, #23\n" \
  "lsrs r4, r6, #20\n" \
  "beq 10f\n" \
  "9:\n" \
  "adds r7, #1\n" \
  "lsrs r4, r4, #1\n" \
  "bne 9b\n" \
  "10:\n" \
  "ldr r2, [sp, #80]\n" \
  "ldr r3, [sp, #68]\n" \
  "cmp r7, #31\n" \
  "bls 12f\n" \
  "movs r4, #128\n" \
  "11:\n" \
  "strb r4, [r3, r2]\n" \
  "adds r2, #1\n" \
  "bne 11b\n" \
  "b 40f\n"

// r1: 2^47 divided by the sum, whose highest bit is bit 31; r12: the rounding half; lr: half of the
// largest reciprocal plus the truncation error.
#define RECIPROCAL \
  "12:\n" \
  "mov r4, r7\n" \
  "subs r4, #19\n" \
  "lsrs r6, r4\n" \
  "ldr r4, =thimble_v6m_softmax_guesses - 128\n" \
  "lsrs r5, r6, #8\n" \
  "ldrb r1, [r4, r5]\n" \
  "lsls r1, r1, #8\n" \
  "muls r6, r1\n" \
  "movs r4, #1\n" \
  "lsls r5, r4, #31\n" \
  "subs r5, r5, r6\n" \
  "asrs r5, r5, #9\n" \
  "muls r5, r1\n" \
  "asrs r5, r5, #22\n" \
  "adds r1, r1, r5\n" \
  "subs r5, r7, #1\n" \
  "lsls r4, r5\n" \
  "mov r12, r4\n" \
  "ldr r4, =0x8004\n" \
  "mov lr, r4\n" \
  "movs r4, #16\n" \
  "cmn r2, r4\n" \
  "blt 30f\n"

// Results of the exponentials on the stack.
#define SHORT \
  "mov r0, sp\n" \
  "20:\n" \
  "ldm r0!, {r4}\n" \
  BOUNDS("r1", "lsrs r6, r7\n lsrs r4, r7\n") \
  "bne 22f\n" \
  "cmp r6, #255\n" \
  "bhi 23f\n" \
  "21:\n" \
  STORE \
  "bne 20b\n" \
  "b 40f\n" \
  "22:\n" \
  "bl 50f\n" \
  "b 21b\n" \
  "23:\n" \
  "movs r6, #255\n" \
  "b 21b\n"

// Results of longer rows; r8 the reciprocal, r9 the shift. The table index is masked, because a
// malicious overlap of y and x may have changed x.
#define LONG \
  "30:\n" \
  "mov r4, r8\n" \
  "mov r5, r9\n" \
  "str r4, [sp]\n" \
  "str r5, [sp, #4]\n" \
  "mov r8, r1\n" \
  "mov r9, r7\n" \
  "ldr r0, [sp, #64]\n" \
  "ldr r1, [sp, #72]\n" \
  "ldr r7, [sp, #84]\n" \
  "31:\n" \
  "ldrsb r4, [r0, r2]\n" \
  "subs r4, r1, r4\n" \
  "uxtb r4, r4\n" \
  "lsls r4, r4, #2\n" \
  "ldr r4, [r7, r4]\n" \
  "lsrs r4, r4, #15\n" \
  "mov r6, r8\n" \
  BOUNDS("r6", "mov r5, r9\n lsrs r6, r5\n lsrs r4, r5\n") \
  "bne 33f\n" \
  "cmp r6, #255\n" \
  "bhi 34f\n" \
  "32:\n" \
  STORE \
  "bne 31b\n" \
  "ldr r4, [sp]\n" \
  "ldr r5, [sp, #4]\n" \
  "mov r8, r4\n" \
  "mov r9, r5\n" \
  "b 40f\n" \
  "33:\n" \
  "bl 50f\n" \
  "b 32b\n" \
  "34:\n" \
  "movs r6, #255\n" \
  "b 32b\n"

#define NEXT \
  "40:\n" \
  "ldr r2, [sp, #88]\n" \
  "subs r2, #1\n" \
  "beq 41f\n" \
  "str r2, [sp, #88]\n" \
  "mov r7, r3\n" \
  "ldr r3, [sp, #64]\n" \
  "ldr r1, [sp, #80]\n" \
  "b 1b\n" \
  "41:\n" \
  "add sp, #92\n" \
  "pop {r4-r7, pc}\n"

// r6: the exact result at r2; preserves the other registers of the loops.
#define EXACT \
  "50:\n" \
  "mov r4, r12\n" \
  "push {r0-r4, lr}\n" \
  "ldr r0, [sp, #24 + 64]\n" \
  "ldr r1, [sp, #24 + 72]\n" \
  "ldrsb r0, [r0, r2]\n" \
  "subs r0, r1, r0\n" \
  "uxtb r0, r0\n" \
  "lsls r0, r0, #2\n" \
  "ldr r1, [sp, #24 + 84]\n" \
  "ldr r0, [r1, r0]\n" \
  "ldr r1, [sp, #24 + 76]\n" \
  "bl thimble_v6m_softmax_exact\n" \
  "mov r6, r0\n" \
  "ldr r0, =0x8004\n" \
  "mov lr, r0\n" \
  "pop {r0-r5}\n" \
  "mov r12, r4\n" \
  "bx r5\n"

#define END \
  ".align 2\n" \
  ".ltorg\n"

extern "C" __attribute__((naked)) void thimble_v6m_softmax(void* const*) {
  asm volatile(ENTER LARGEST SUM SHIFT RECIPROCAL SHORT LONG NEXT EXACT END);
}

// clang-format on

}  // namespace thimble::kernels

#endif
