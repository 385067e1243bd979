// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/dot_int4.h"

#include "kernels/isa.h"

#if !THIMBLE_HAS_DSP

#include "kernels/portable/dot_int4_pair.h"

namespace thimble::kernels {

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pair,
                                     uint32_t (&sums)[2]) {
  uint32_t low = 0, both = 0;
  const int8_t* const end = operand.x + operand.n;
  for (const int8_t* x = operand.x; x != end; ++x)
    add_int4_pair(*x + operand.offset, *pair++, low, both);
  sums[0] = low - operand.eight_sums;
  sums[1] = int4_high_sum(both, low);
}

[[gnu::noinline]] void multiply_int4(const Int4Operand& operand, const uint8_t* pairs,
                                     uint32_t (&sums)[4]) {
  uint32_t low = 0, both = 0, low1 = 0, both1 = 0;
  const uint8_t* second = pairs + operand.n;
  const int8_t* const end = operand.x + operand.n;
  for (const int8_t* x = operand.x; x != end; ++x) {
    const int32_t value = *x + operand.offset;
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
