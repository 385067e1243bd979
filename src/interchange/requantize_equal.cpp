// SPDX-License-Identifier: Apache-2.0
#include "interchange/requantize_equal.h"

namespace thimble::interchange {
namespace {

/// Returns the lowest sum for which `step` returns `code` or more; step(high) must do so.
int64_t first_at(const RequantizeFn& step, int32_t code, int64_t low, int64_t high) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (step(static_cast<int32_t>(middle)) >= code) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

bool same_requantization(const RequantizeFn& ours, const RequantizeFn& theirs, int64_t low,
                         int64_t high) {
  const int32_t first = ours(static_cast<int32_t>(low));
  const int32_t last = ours(static_cast<int32_t>(high));
  if (first != theirs(static_cast<int32_t>(low)) || last != theirs(static_cast<int32_t>(high))) {
    return false;
  }
  for (int32_t code = first + 1; code <= last; ++code) {
    if (first_at(ours, code, low, high) != first_at(theirs, code, low, high)) return false;
  }
  return true;
}

RequantizeFn make_requantize_fn(const numerics::Multiplier& multiplier, const Bounds& bounds,
                                bool single) {
  return [=](int32_t sum) {
    const int32_t scaled = single
                               ? numerics::requantize_single(sum, multiplier.mult, multiplier.shift)
                               : numerics::requantize(sum, multiplier.mult, multiplier.shift);
    return numerics::clamp(numerics::wrap_add(scaled, bounds.zero_point), bounds.min, bounds.max);
  };
}

}  // namespace thimble::interchange
