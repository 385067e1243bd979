// SPDX-License-Identifier: Apache-2.0
// The loops of kernels/portable/dot_int4.h with the DSP extension. Four values of x are widened to
// two pairs of int16 including the offset. SXTB16 extracts two bytes of weights; AND leaves a + 8.
// 16 products with four rows take 23 instructions, 26 with weights of 8 bits (dot.cpp). Cores with
// Helium use kernels/mve/dot_int4.cpp instead.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP && !THIMBLE_HAS_MVE

#include "kernels/portable/dot_int4.h"
#include "kernels/portable/dot_int4_pair.h"

// clang-format off
// Adds the products of a pair of rows; %[even] and %[odd] hold x.
#define THIMBLE_PAIR(weights, low, both) \
  "ldr %[codes], [" weights "], #4\n" \
  "sxtb16 %[two], %[codes]\n" \
  "smlad " both ", %[even], %[two], " both "\n" \
  "and %[two], %[two], #0x000F000F\n" \
  "smlad " low ", %[even], %[two], " low "\n" \
  "sxtb16 %[two], %[codes], ror #8\n" \
  "smlad " both ", %[odd], %[two], " both "\n" \
  "and %[two], %[two], #0x000F000F\n" \
  "smlad " low ", %[odd], %[two], " low "\n"
#define THIMBLE_WIDEN \
  "ldr %[codes], [%[x]], #4\n" \
  "sxtab16 %[even], %[offsets], %[codes]\n" \
  "sxtab16 %[odd], %[offsets], %[codes], ror #8\n"
// clang-format on

namespace thimble::kernels {
namespace {

uint32_t twice(int32_t offset) {
  return (static_cast<uint32_t>(offset) & 0xFFFF) * 0x00010001U;
}

}  // namespace

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pair,
                                     uint32_t (&sums)[2]) {
  uint32_t low = 0, both = 0;
  const int8_t* x = operand.x;
  const int8_t* const end = x + operand.n;
  const int8_t* const fours = x + (operand.n & ~3);
  const uint32_t offsets = twice(operand.offset);
  if (x != fours) {
    uint32_t even, odd, codes, two;
    // clang-format off
    asm volatile(
        "1:\n"
        THIMBLE_WIDEN
        THIMBLE_PAIR("%[w]", "%[low]", "%[both]")
        "cmp %[x], %[fours]\n"
        "bne 1b\n"
        : [x] "+r"(x), [w] "+r"(pair), [low] "+r"(low), [both] "+r"(both), [even] "=&r"(even),
          [odd] "=&r"(odd), [codes] "=&r"(codes), [two] "=&r"(two)
        : [offsets] "r"(offsets), [fours] "r"(fours)
        : "cc", "memory");
    // clang-format on
  }
  while (x != end) add_int4_pair(*x++ + operand.offset, *pair++, low, both);
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
}

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pairs,
                                     uint32_t (&sums)[4]) {
  uint32_t low = 0, both = 0, low1 = 0, both1 = 0;
  const uint8_t* second = pairs + operand.n;
  const int8_t* x = operand.x;
  const int8_t* const fours = x + (operand.n & ~3);
  const uint32_t offsets = twice(operand.offset);
  if (x != fours) {
    uint32_t even, odd, codes, two;
    // clang-format off
    asm volatile(
        "1:\n"
        THIMBLE_WIDEN
        THIMBLE_PAIR("%[w]", "%[low]", "%[both]")
        THIMBLE_PAIR("%[w1]", "%[low1]", "%[both1]")
        "ldr %[codes], %[fours]\n"
        "cmp %[x], %[codes]\n"
        "bne 1b\n"
        : [x] "+r"(x), [w] "+r"(pairs), [w1] "+r"(second), [low] "+r"(low), [both] "+r"(both),
          [low1] "+r"(low1), [both1] "+r"(both1), [even] "=&r"(even), [odd] "=&r"(odd),
          [codes] "=&r"(codes), [two] "=&r"(two)
        : [offsets] "r"(offsets), [fours] "m"(fours)
        : "cc", "memory");
    // clang-format on
  }
  const int8_t* const end = operand.x + operand.n;
  while (x != end) {
    const int32_t value = *x++ + operand.offset;
    add_int4_pair(value, *pairs++, low, both);
    add_int4_pair(value, *second++, low1, both1);
  }
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
  sums[2] = low1 - operand.eight_sums;
  sums[3] = int4_high_sum(both1, low1);
}

}  // namespace thimble::kernels

#endif
