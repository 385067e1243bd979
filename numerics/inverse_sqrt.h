// SPDX-License-Identifier: Apache-2.0
#pragma once
// 1 / sqrt of a 64-bit integer with 16 bits of precision; see docs/numerics.md, "Norms".

#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// An approximation of 1 / sqrt(R): t * 2^-(31+e).
struct InverseSqrt {
  int32_t t;  // in [2^15, 2^16)
  int32_t e;  // -15..16
  constexpr bool operator==(const InverseSqrt& o) const { return t == o.t && e == o.e; }
};

/// Returns an approximation of 1 / sqrt(radicand) for radicand in [1, 2^63).
constexpr InverseSqrt inverse_sqrt(uint64_t radicand) {
  const auto high = static_cast<uint32_t>(radicand >> 32);
  const int32_t bits = high != 0 ? 64 - count_leading_zeros(high)
                                 : 32 - count_leading_zeros(static_cast<uint32_t>(radicand));
  // Shift out an even number of bits, so that 31 or 32 bits remain.
  const int32_t e = (bits + 1) / 2 - 16;
  const auto m = static_cast<uint32_t>(e < 0 ? radicand << (-2 * e) : radicand >> (2 * e));
  uint32_t t = 0;
  for (uint32_t bit = 1U << 15; bit != 0; bit >>= 1) {
    const uint32_t with = t | bit;
    const uint64_t product = static_cast<uint64_t>(with * with) * m;
    if (product <= uint64_t{1} << 62) t = with;
  }
  return {static_cast<int32_t>(t), e};
}

}  // namespace thimble::numerics
