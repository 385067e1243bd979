// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requantization of many values, bit for bit as numerics/fixed_point.h and numerics/int16.h.
//
// The product of value and multiplier is computed in double and rounded to the nearest integer.
// That is exact, unless the product is so close to the middle of two integers that the rounding of
// double may decide: two products of a million. A block with such a value is computed again with
// the exact functions. The second rounding, after the right shift, is exact in double. Compilers
// vectorize this, and not the exact functions.

#include <cstdint>

namespace thimble::quant {

/// Number of values that are requantized together.
inline constexpr int64_t kRequantizeBlock = 16;

/// numerics::requantize, or numerics::requantize_single.
class Requantizer {
 public:
  Requantizer(int32_t mult, int32_t shift, bool single);

  /// Requantizes kRequantizeBlock values in place.
  void run_block(int32_t* values) const;
  [[nodiscard]] int32_t operator()(int32_t value) const;

 private:
  int32_t mult_, shift_;
  bool single_;
  double factor_;   // to the first rounding
  double divisor_;  // 2^-right shift, before the second rounding; 1: there is none
};

/// numerics::requantize64 of sums and a bias. |sum + bias| is below numerics::kRequantize64SumMax.
class WideRequantizer {
 public:
  WideRequantizer(int64_t bias, int32_t mult, int32_t shift);

  /// Requantizes kRequantizeBlock sums in place.
  void run_block(int32_t* sums) const;
  [[nodiscard]] int32_t operator()(int64_t sum) const;

 private:
  int64_t bias_;
  int32_t mult_, shift_;
  double factor_;
};

}  // namespace thimble::quant
