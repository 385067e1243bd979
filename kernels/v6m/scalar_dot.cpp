// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// On Armv6-M, MULS overwrites a factor, signed byte loads have only register offsets, and only
// eight registers are usable in arithmetic. Two pixels therefore share a multiplication. A word
// holds a byte of one pixel plus 2^16 times the byte of the other pixel. The low half of two such
// words times weights, added up, still fits 16 bits. They are added to two sums, from which the
// sums of both pixels follow. Shifts take four weights from a word as fast as loads of bytes do,
// without an index. 32 products take 105 cycles.
//
// A single row shares no multiplication. Pointers refer to the ends of the rows and share one index
// that counts up to zero. Sums are kept in the high registers, which ADD can access. 14
// instructions compute four products of one row with four channels.
//
// All loops are in assembly, because no compiler keeps sums in high registers.

#include <cstddef>

#include "kernels/v6m/scalar_dot.h"
#include "kernels/v6m/scalar_requantize.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarDot, w) == 8 && offsetof(ScalarDot, length) == 16);
static_assert(offsetof(ScalarDot, channels) == 20 && offsetof(ScalarDot, count) == 32);

// clang-format off

// r0 words, r4 weights, r3 and r6 four weights each, r5 one of them; r7: sum of the high halves,
// r8: sum of the words. The shift leaves the sign of the low half in the carry; the high half must
// be incremented by it. The sum of the low halves is r8 - 2^16 * r7.
#define ADD_SUMS         \
  "adds r1, r1, r2\n"    \
  "asrs r2, r1, #16\n"   \
  "adcs r7, r2\n"        \
  "add r8, r1\n"
#define FOUR(weights)             \
  "ldm r0!, {r1, r2}\n"           \
  "sxtb r5, " weights "\n"        \
  "muls r1, r5, r1\n"             \
  "lsls r5, " weights ", #16\n"   \
  "asrs r5, r5, #24\n"            \
  "muls r2, r5, r2\n"             \
  ADD_SUMS                        \
  "ldm r0!, {r1, r2}\n"           \
  "lsls r5, " weights ", #8\n"    \
  "asrs r5, r5, #24\n"            \
  "muls r1, r5, r1\n"             \
  "asrs " weights ", " weights ", #24\n" \
  "muls r2, " weights ", r2\n"    \
  ADD_SUMS

extern "C" __attribute__((naked)) void thimble_v6m_dot_block(ScalarDot*) {
  asm volatile(
      THIMBLE_V6M_ENTER
      "ldr r5, [sp]\n"
      "ldr r6, [r5, #20]\n"
      "1:\n"
      "ldr r7, [r6]\n"
      "lsls r1, r7, #16\n"
      "adds r1, r1, r7\n"
      "mov r8, r1\n"
      "ldr r0, [r5]\n"
      "ldr r4, [r5, #8]\n"
      "ldr r6, [r5, #16]\n"
      "adds r1, r4, r6\n"
      "mov r9, r1\n"
      "rsbs r6, r6, #0\n"
      // The first iteration leaves out the groups of four that are missing to a multiple of 16.
      "lsls r1, r6, #29\n"  // carry: two groups, negative: one
      "bcc 2f\n"
      "bpl 5f\n"
      "ldm r4!, {r6}\n"
      "b 6f\n"
      "2:\n"
      "bpl 3f\n"
      "ldm r4!, {r6}\n"
      "b 4f\n"
      "3:\n"
      "ldm r4!, {r3, r6}\n"
      FOUR("r3")
      "4:\n"
      FOUR("r6")
      "5:\n"
      "ldm r4!, {r3, r6}\n"
      FOUR("r3")
      "6:\n"
      FOUR("r6")
      "cmp r4, r9\n"
      "bne 3b\n"
      "ldr r5, [sp]\n"
      "str r4, [r5, #8]\n"  // the weights of the next channel
      "ldr r6, [r5, #20]\n"
      "lsls r1, r7, #16\n"
      "mov r0, r8\n"
      "subs r0, r0, r1\n"
      THIMBLE_V6M_REQUANTIZE_SUM("4")
      "ldr r1, [r5, #24]\n"
      "strb r0, [r1]\n"
      THIMBLE_V6M_REQUANTIZE("r7", "5")
      "ldr r1, [r5, #24]\n"
      "ldr r2, [r5, #28]\n"
      "strb r0, [r1, r2]\n"
      "adds r1, #1\n"
      "adds r6, #16\n"
      "str r6, [r5, #20]\n"
      "str r1, [r5, #24]\n"
      "ldr r1, [r5, #32]\n"
      "subs r1, #1\n"
      "str r1, [r5, #32]\n"
      "beq 6f\n"
      "b 1b\n"
      "6:\n"
      THIMBLE_V6M_LEAVE);
}

#define TO_WORD(word)            \
  "ldrsb " word ", [r1, r3]\n"   \
  "ldrsb r6, [r2, r3]\n"         \
  "lsls r6, r6, #16\n"           \
  "adds " word ", r6\n"          \
  "adds r3, #1\n"

extern "C" __attribute__((naked)) void thimble_v6m_interleave(void*, const int8_t*, const int8_t*,
                                                              uint32_t, uint32_t) {
  asm volatile(
      ".syntax unified\n"
      "push {r4-r6, lr}\n"
      "ldr r4, [sp, #16]\n"
      "mov r12, r4\n"
      "adds r1, r1, r3\n"
      "adds r2, r2, r3\n"
      "rsbs r3, r3, #0\n"
      "1:\n"
      TO_WORD("r4") TO_WORD("r5")
      "stm r0!, {r4, r5}\n"
      "add r0, r12\n"
      TO_WORD("r4") TO_WORD("r5")
      "stm r0!, {r4, r5}\n"
      "add r0, r12\n"
      "cmp r3, #0\n"
      "bne 1b\n"
      "pop {r4-r6, pc}\n");
}

// r8-r11: sums of four channels of one row, r0 end of the row, r1-r4 ends of the weights.
#define PRODUCT(w, acc)     \
  "ldrsb r7, [" w ", r5]\n" \
  "muls r7, r6, r7\n"       \
  "add " acc ", r7\n"

#define STEP4            \
  "ldrsb r6, [r0, r5]\n" \
  PRODUCT("r1", "r8") PRODUCT("r2", "r9") PRODUCT("r3", "r10") PRODUCT("r4", "r11") \
  "adds r5, #1\n"

#define STEP1            \
  "ldrsb r6, [r0, r5]\n" \
  PRODUCT("r1", "r8")    \
  "adds r5, #1\n"

#define FINISH(acc, label)           \
  THIMBLE_V6M_REQUANTIZE(acc, label) \
  "strb r0, [r5]\n"                  \
  "adds r6, #16\n"                   \
  "adds r5, #1\n"

#define BY_FOUR \
  THIMBLE_V6M_ENTER \
  "ldr r7, [sp]\n" \
  "ldr r6, [r7, #32]\n" \
  "1:\n" \
  "subs r6, #4\n" \
  "bhs 2f\n" \
  "b 10f\n" \
  "2:\n" \
  "str r6, [r7, #32]\n" \
  "ldr r6, [r7, #20]\n" \
  "ldr r5, [r6]\n" \
  "mov r8, r5\n" \
  "ldr r5, [r6, #16]\n" \
  "mov r9, r5\n" \
  "ldr r5, [r6, #32]\n" \
  "mov r10, r5\n" \
  "ldr r5, [r6, #48]\n" \
  "mov r11, r5\n" \
  "ldr r0, [r7]\n" \
  "ldr r1, [r7, #8]\n" \
  "ldr r6, [r7, #12]\n" \
  "ldr r5, [r7, #16]\n" \
  "adds r0, r0, r5\n" \
  "adds r1, r1, r5\n" \
  "adds r2, r1, r6\n" \
  "adds r3, r2, r6\n" \
  "adds r4, r3, r6\n" \
  "rsbs r5, r5, #0\n" \
  /* Single products until the index is a multiple of four. */ \
  "3:\n" \
  "lsls r6, r5, #30\n" \
  "beq 4f\n" \
  STEP4 \
  "b 3b\n" \
  "4:\n" \
  "cmp r5, #0\n" \
  "beq 6f\n" \
  "5:\n" \
  STEP4 STEP4 STEP4 STEP4 \
  "bne 5b\n" \
  "6:\n" \
  "ldr r7, [sp]\n" \
  "ldr r1, [r7, #8]\n" \
  "ldr r2, [r7, #12]\n" \
  "lsls r2, r2, #2\n" \
  "adds r1, r1, r2\n" \
  "str r1, [r7, #8]\n" \
  "ldr r6, [r7, #20]\n" \
  "ldr r5, [r7, #24]\n" \
  FINISH("r8", "7") FINISH("r9", "8") FINISH("r10", "9") FINISH("r11", "11") \
  "str r6, [r7, #20]\n" \
  "str r5, [r7, #24]\n" \
  "ldr r6, [r7, #32]\n" \
  "b 1b\n"

#define BY_ONE \
  "10:\n" \
  "adds r6, #4\n" \
  "12:\n" \
  "beq 17f\n" \
  "str r6, [r7, #32]\n" \
  "ldr r6, [r7, #20]\n" \
  "ldr r5, [r6]\n" \
  "mov r8, r5\n" \
  "ldr r0, [r7]\n" \
  "ldr r1, [r7, #8]\n" \
  "ldr r6, [r7, #12]\n" \
  "ldr r5, [r7, #16]\n" \
  "adds r6, r1, r6\n" \
  "str r6, [r7, #8]\n" \
  "adds r0, r0, r5\n" \
  "adds r1, r1, r5\n" \
  "rsbs r5, r5, #0\n" \
  "13:\n" \
  "lsls r6, r5, #30\n" \
  "beq 14f\n" \
  STEP1 \
  "b 13b\n" \
  "14:\n" \
  "cmp r5, #0\n" \
  "beq 16f\n" \
  "15:\n" \
  STEP1 STEP1 STEP1 STEP1 \
  "bne 15b\n" \
  "16:\n" \
  "ldr r7, [sp]\n" \
  "ldr r6, [r7, #20]\n" \
  "ldr r5, [r7, #24]\n" \
  FINISH("r8", "18") \
  "str r6, [r7, #20]\n" \
  "str r5, [r7, #24]\n" \
  "ldr r6, [r7, #32]\n" \
  "subs r6, #1\n" \
  "b 12b\n" \
  "17:\n" \
  THIMBLE_V6M_LEAVE

extern "C" __attribute__((naked)) void thimble_v6m_dot_single(ScalarDot*) {
  asm volatile(BY_FOUR BY_ONE);
}

// clang-format on

}  // namespace thimble::kernels
#endif
