#pragma once
// The multiply-accumulate loop of conv2d and linear.

#include <cstdint>

namespace thimble::kernels {

/// acc[k] += sum over n of (x + x_offset) * w[k * w_step + i], wrapping. Four rows share one load of x and one addition
/// of its offset: 3 instructions a multiplication instead of 5.
template <int kRows>
inline void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n,
                       int32_t x_offset, uint32_t (&acc)[kRows]) {
  uint32_t sum[kRows];
  const int8_t* row[kRows];
  for (int k = 0; k < kRows; ++k) {
    sum[k] = acc[k];
    row[k] = w + k * w_step;
  }
  for (int32_t i = 0; i < n; ++i) {
    const int32_t value = x[i] + x_offset;
    for (int k = 0; k < kRows; ++k) sum[k] += static_cast<uint32_t>(value * row[k][i]);
  }
  for (int k = 0; k < kRows; ++k) acc[k] = sum[k];
}

}  // namespace thimble::kernels
