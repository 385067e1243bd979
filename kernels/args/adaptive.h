#pragma once
// Adaptive pools: output position i of n covers the input positions from floor(i * in / n) up to,
// but not including, ceil((i + 1) * in / n).
//
// Operands: x, attributes (the output's height and width as a list, then optional bounds), y.
// Memory: NHWC.

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

struct InputRange {
  int32_t first, last;  // half-open
};

struct AdaptiveAxis {
  int32_t in, out;

  InputRange input_range(int32_t o) const { return {o * in / out, ((o + 1) * in + out - 1) / out}; }
};

/// Checks that x and y have the same type, int8 or int16. `words` is the number of attribute words,
/// including the two sizes and their count.
Status check_adaptive_pool(const Call& call, uint32_t words);
inline AdaptiveAxis adaptive_axis(const Call& call, uint32_t side) {
  return {tensor(call, 0).sizes[2 + side], tensor(call, 2).sizes[2 + side]};
}

}  // namespace thimble::kernels
