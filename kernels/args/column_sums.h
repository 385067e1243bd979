// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums of int8 values at a fixed stride, for four neighbouring channels at a time: the inner loop
// of averages.
//
// A word holds the values of four channels. XOR with 0x80808080 makes each value 0 to 255 (the
// value plus 128), so that two of them can be accumulated in the two halves of a word. `all`
// accumulates whole words, `odd` only channels 1 and 3; subtracting `odd` from `all` gives channels
// 0 and 2. Without any extension this needs 2 instructions per value.

#include <cstdint>

#include "kernels/args/flat.h"

namespace thimble::kernels {

/// Sums of up to 256 values of each of four channels.
struct ColumnSums {
  uint32_t all = 0;  // channels 0 and 2 plus 256 times channels 1 and 3, modulo 2^32
  uint32_t odd = 0;  // channels 1 and 3

  void add(const int8_t* x, uint32_t count, uint32_t step) {
#pragma GCC unroll 2
    for (uint32_t i = count; i != 0; --i) {
      const uint32_t word = load_word(x) ^ 0x80808080;
      all += word;
      odd += word >> 8 & 0x00FF00FF;
      x += step;
    }
  }

  /// Calls use(channel, sum) for each channel; the sum includes 128 for each value.
  template <class Use>
  void each(Use use) const {
    const uint32_t even = all - (odd << 8);
    use(0, even & 0xFFFF);
    use(1, odd & 0xFFFF);
    use(2, even >> 16);
    use(3, odd >> 16);
  }
};

/// Returns the sum of a single channel.
inline int32_t column_sum(const int8_t* x, uint32_t count, uint32_t step) {
  int32_t sum = 0;
  for (uint32_t i = count; i != 0; --i) {
    sum += *x;
    x += step;
  }
  return sum;
}

}  // namespace thimble::kernels
