// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integer division and multiples, for values that are not negative.

#include <cstdint>

namespace thimble {

/// Smallest integer that is at least value / unit.
[[nodiscard]] constexpr int64_t divide_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit;
}

/// Smallest multiple of `unit` that is at least `value`.
[[nodiscard]] constexpr int64_t round_up(int64_t value, int64_t unit) {
  return divide_up(value, unit) * unit;
}

}  // namespace thimble
