// SPDX-License-Identifier: Apache-2.0
#pragma once
// log2 of an integer in Q16 without a table; see docs/numerics.md, "Log-softmax".

#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// Returns log2(value) * 2^16 for value >= 1, and 0 for 0. The integer part is the position of the
/// top bit. Each further bit is found by squaring the mantissa m in [1, 2): m^2 >= 2 means that the
/// next bit of the logarithm is 1. The mantissa is in Q1.31 and is truncated at each step, so that
/// the result is below the exact one by less than 2 units of 2^-16.
constexpr int32_t log2_fixed(uint32_t value) {
  if (value == 0) return 0;
  const int32_t whole = 31 - count_leading_zeros(value);
  uint32_t mantissa = value << (31 - whole);
  int32_t result = whole;
  for (int32_t bit = 0; bit < 16; ++bit) {
    const uint64_t square = (static_cast<uint64_t>(mantissa) * mantissa) >> 31;
    const bool set = (square >> 32) != 0;
    mantissa = static_cast<uint32_t>(set ? square >> 1 : square);
    result = result * 2 + (set ? 1 : 0);
  }
  return result;
}

}  // namespace thimble::numerics
