#pragma once
// Sums of codes that lie one step apart, for four neighbouring channels at a time: the inner loop
// of averages.
//
// A word holds the codes of four channels. With its sign bits turned, a code is a number from 0 to
// 255, 128 more than before, and two such numbers are summed in the two halves of a word. The sum
// of whole words has both pairs in it, of which one is known. Without any extension that is 2
// instructions a code.

#include <cstdint>

#include "kernels/args/flat.h"

namespace thimble::kernels {

/// Sums of up to 256 codes of each of four channels.
struct ColumnSums {
  uint32_t all = 0;  // channels 0 and 2, and 256 times 1 and 3, less what leaves the word
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

  /// use(channel, sum of codes and 128 of each).
  template <class Use>
  void each(Use use) const {
    const uint32_t even = all - (odd << 8);
    use(0, even & 0xFFFF);
    use(1, odd & 0xFFFF);
    use(2, even >> 16);
    use(3, odd >> 16);
  }
};

/// Of a single channel.
inline int32_t column_sum(const int8_t* x, uint32_t count, uint32_t step) {
  int32_t sum = 0;
  for (uint32_t i = count; i != 0; --i) {
    sum += *x;
    x += step;
  }
  return sum;
}

}  // namespace thimble::kernels
