// SPDX-License-Identifier: Apache-2.0
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// Products of four values with four outputs. To extract four weights from a word takes six cycles.
// Instead the word and its right shifts are factors, which contain the weights that follow; the
// other factors of the products subtract these again (abi/matmul_scalar.h). They are computed from
// the reversed word of four values, once for four outputs. 32 products take 131 cycles.

#include <cstddef>

#include "kernels/v6m/scalar_blocks.h"
#include "kernels/v6m/scalar_requantize.h"

namespace thimble::kernels {

static_assert(offsetof(ScalarBlocks, length) == 4 && offsetof(ScalarBlocks, w) == 8);
static_assert(offsetof(ScalarBlocks, channels) == 12 && offsetof(ScalarBlocks, y) == 16);
static_assert(offsetof(ScalarBlocks, count) == 20 && offsetof(ScalarBlocks, excess) == 24);

// clang-format off

// r6 x, r7 weights, r8-r11 sums, lr 0x80808080.
// r0 x0, r1 -(x1 + 256 * x0), r2 x2 + 256 * x1, r3 -(x3 + 256 * x2).
#define VALUES              \
  "ldm r6!, {r3}\n"         \
  "mov r4, lr\n"            \
  "eors r3, r4\n"           \
  "rev r3, r3\n"            \
  "lsrs r0, r3, #24\n"      \
  "lsrs r1, r3, #16\n"      \
  "rsbs r1, r1, #0\n"       \
  "lsrs r2, r3, #8\n"       \
  "uxth r2, r2\n"           \
  "uxth r3, r3\n"           \
  "rsbs r3, r3, #0\n"
#define OUTPUT(sum)         \
  "ldm r7!, {r4}\n"         \
  "asrs r5, r4, #8\n"       \
  "muls r5, r1, r5\n"       \
  "add " sum ", r5\n"       \
  "asrs r5, r4, #16\n"      \
  "muls r5, r2, r5\n"       \
  "add " sum ", r5\n"       \
  "asrs r5, r4, #24\n"      \
  "muls r5, r3, r5\n"       \
  "add " sum ", r5\n"       \
  "muls r4, r0, r4\n"       \
  "add " sum ", r4\n"
#define FOUR VALUES OUTPUT("r8") OUTPUT("r9") OUTPUT("r10") OUTPUT("r11")

#define BIAS(offset, sum)          \
  "ldr r4, [r6, #" offset "]\n"    \
  "subs r4, r4, r5\n"              \
  "mov " sum ", r4\n"
#define FINISH(sum, label)         \
  THIMBLE_V6M_REQUANTIZE(sum, label) \
  "strb r0, [r5]\n"                \
  "adds r6, #16\n"                 \
  "adds r5, #1\n"

extern "C" __attribute__((naked)) void thimble_v6m_dot_blocks(ScalarBlocks*) {
  asm volatile(
      THIMBLE_V6M_ENTER
      "ldr r7, [sp]\n"
      "1:\n"
      "ldr r6, [r7, #12]\n"
      "ldr r5, [r7, #24]\n"
      BIAS("0", "r8") BIAS("16", "r9") BIAS("32", "r10") BIAS("48", "r11")
      "ldr r4, =0x80808080\n"
      "mov lr, r4\n"
      "ldr r6, [r7]\n"
      "ldr r5, [r7, #4]\n"
      "adds r4, r5, r6\n"
      "mov r12, r4\n"
      "ldr r7, [r7, #8]\n"
      // The first iteration leaves out the first four values if the number of fours is odd.
      "lsls r5, r5, #30\n"
      "bcs 3f\n"
      "2:\n"
      FOUR
      "3:\n"
      FOUR
      "cmp r6, r12\n"
      "bne 2b\n"
      "mov r1, r7\n"
      "ldr r7, [sp]\n"
      "str r1, [r7, #8]\n"
      THIMBLE_V6M_CONSTANTS
      "ldr r6, [r7, #12]\n"
      "ldr r5, [r7, #16]\n"
      FINISH("r8", "4") FINISH("r9", "5") FINISH("r10", "6") FINISH("r11", "7")
      "str r6, [r7, #12]\n"
      "str r5, [r7, #16]\n"
      "ldr r6, [r7, #20]\n"
      "subs r6, #4\n"
      "str r6, [r7, #20]\n"
      "beq 8f\n"
      "b 1b\n"
      "8:\n"
      THIMBLE_V6M_LEAVE
      ".align 2\n"
      ".ltorg\n");
}

// clang-format on

}  // namespace thimble::kernels
#endif
