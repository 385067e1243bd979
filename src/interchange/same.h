#pragma once
// Does another tool's multiplier give the same codes as ours? Its arithmetic is ours, but it
// computes multipliers from scales in its own way, so that the last bits may differ.

#include <cstdint>
#include <functional>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"

namespace thimble::interchange {

/// A 32-bit sum to a code; must not decrease.
using Step = std::function<int32_t(int32_t sum)>;

/// True if both give the same for every sum from `low` to `high`. A function that does not decrease
/// is told by where it reaches each code, which takes a binary search per code and no more.
[[nodiscard]] bool same_steps(const Step& ours, const Step& theirs, int64_t low, int64_t high);

struct Bounds {
  int32_t zero_point = 0, min = -128, max = 127;
};

/// requantize(sum) + zero point, within the bounds; single rounding if asked.
[[nodiscard]] Step to_code(const numerics::Multiplier& multiplier, const Bounds& bounds,
                           bool single = false);

}  // namespace thimble::interchange
