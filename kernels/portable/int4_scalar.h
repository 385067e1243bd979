// SPDX-License-Identifier: Apache-2.0
#pragma once
// conv2d_scalar_int4 and linear_scalar_int4 on any core (abi/matmul_scalar.h). Four channels share
// a load of x.

#include "kernels/args/conv_scalar.h"
#include "kernels/portable/int4.h"

namespace thimble::kernels {

/// Computes the sums of products of two pairs of channels, which are `step` bytes apart; wraps.
using MultiplyInt4Rows = void(const int8_t* x, const uint8_t* pairs, uint32_t step, uint32_t depth,
                              uint32_t (&sums)[4]);
MultiplyInt4Rows multiply_int4_rows;

template <MultiplyInt4Rows* kMultiply>
struct ScalarInt4 {
  const void* packed;
  uint32_t channels, depth;
  int32_t y_zero_point, min, max;

  int8_t* codes(const int8_t* x, int8_t* y) const {
    const abi::ScalarChannel* const records = scalar_channels(packed);
    const auto* pairs = reinterpret_cast<const uint8_t*>(scalar_weights(packed, channels));
    const auto row = static_cast<uint32_t>(scalar_row(depth));
    for (uint32_t channel = 0; channel < channels; channel += 4, pairs += 2 * row) {
      const uint32_t count = channels - channel < 4 ? channels - channel : 4;
      uint32_t sums[4];
      kMultiply(x, pairs, count > 2 ? row : 0, depth, sums);
      for (uint32_t k = 0; k < count; ++k) {
        const abi::ScalarChannel& record = records[channel + k];
        const uint32_t sum = static_cast<uint32_t>(record.bias) + sums[k];
        *y++ = scalar_code(record, static_cast<int32_t>(sum), min, max);
      }
    }
    return y;
  }
};
using ScalarWeights = ScalarInt4<multiply_int4_rows>;

}  // namespace thimble::kernels
