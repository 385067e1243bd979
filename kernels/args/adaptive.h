// SPDX-License-Identifier: Apache-2.0
#pragma once
// Adaptive pools: output position i of n covers the input positions from floor(i * in / n) up to,
// but not including, ceil((i + 1) * in / n).
//
// Operands: x, parameters, y.
// Memory: NHWC.

#include <cstdint>

#include "abi/params/pool.h"
#include "kernels/args/params.h"

namespace thimble::kernels {

struct InputRange {
  int32_t first, last;  // half-open
};

struct AdaptiveAxis {
  int32_t in, out;

  InputRange input_range(int32_t o) const { return {o * in / out, ((o + 1) * in + out - 1) / out}; }
};

/// Checks that x and y have the same type, int8 or int16. The parameters have `params_bytes` bytes
/// and begin with the size of the result.
Status check_adaptive_pool(const Call& call, uint32_t params_bytes);
inline AdaptiveAxis adaptive_axis(const Call& call, uint32_t side) {
  return {tensor(call, 0).sizes[2 + side], tensor(call, 2).sizes[2 + side]};
}

}  // namespace thimble::kernels
