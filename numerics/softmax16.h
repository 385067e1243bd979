// SPDX-License-Identifier: Apache-2.0
#pragma once
// Softmax with 16-bit results (docs/numerics.md, "16-bit activations"): the arithmetic of
// numerics/softmax.h with a finer last step. No argument has undefined behaviour.

#include "numerics/softmax.h"

namespace thimble::numerics {

/// Computes one row of `count` >= 1 values (int8 or int16); results have scale 1/32768 and zero
/// point 0.
template <class T>
constexpr void softmax16_row(const Softmax& softmax, const T* x, int32_t count, int16_t* y) {
  constexpr uint32_t kSumMax = uint32_t{1} << 31;
  int32_t maximum = x[0];
  for (int32_t i = 1; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  uint32_t sum = 0;  // Q12.19: at least 2^19, from the maximum
  for (int32_t i = 0; i < count; ++i) {
    const int32_t difference = x[i] - maximum;
    if (difference < softmax.diff_min) continue;
    sum += static_cast<uint32_t>(rounding_divide_by_pow2(softmax.exp(difference), 12));
    if (sum > kSumMax) sum = kSumMax;
  }
  const int32_t headroom = count_leading_zeros(sum);
  const int32_t scale = one_over_one_plus_x(static_cast<int32_t>((sum << headroom) ^ kSumMax));
  for (int32_t i = 0; i < count; ++i) {
    const int32_t difference = x[i] - maximum;
    int32_t value = 0;
    if (difference >= softmax.diff_min) {
      value = rounding_divide_by_pow2(high_mult(scale, softmax.exp(difference)), 28 - headroom);
    }
    y[i] = static_cast<int16_t>(clamp(value, 0, INT16_MAX));
  }
}

}  // namespace thimble::numerics
