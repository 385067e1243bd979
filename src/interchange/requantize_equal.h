// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks if another tool's multiplier gives the same quantized values as Thimble's. The fixed-point
// arithmetic is the same, but the tool computes multipliers from scales by its own formula, so the
// last bits may differ.

#include <cstdint>
#include <functional>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"

namespace thimble::interchange {

/// Maps a 32-bit sum to a quantized value; must be monotonically non-decreasing.
using RequantizeFn = std::function<int32_t(int32_t sum)>;

/// Returns true if both steps are equal for every sum from `low` to `high`. A non-decreasing
/// function is determined by the first sum for each quantized value, so one binary search per
/// quantized value is sufficient.
[[nodiscard]] bool same_requantization(const RequantizeFn& ours, const RequantizeFn& theirs,
                                       int64_t low, int64_t high);

struct Bounds {
  int32_t zero_point = 0, min = -128, max = 127;
};

/// Returns the step: requantize(sum) + zero point, clamped; with single rounding if `single`.
[[nodiscard]] RequantizeFn make_requantize_fn(const numerics::Multiplier& multiplier,
                                              const Bounds& bounds, bool single = false);

}  // namespace thimble::interchange
