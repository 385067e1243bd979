// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lowest free offset for a buffer, given the offsets at which it must not start.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace thimble::memory {

/// A buffer must not start between `from` and `to`, both exclusive.
struct ForbiddenOffsets {
  int64_t from, to;
};

/// Returns the lowest offset (>= 0) that is in no range. Sorts the ranges.
[[nodiscard]] inline int64_t lowest_offset(std::vector<ForbiddenOffsets>& ranges) {
  std::ranges::sort(ranges, {}, &ForbiddenOffsets::from);
  int64_t offset = 0;
  for (const ForbiddenOffsets& range : ranges) {
    if (offset <= range.from) break;
    offset = std::max(offset, range.to);
  }
  return offset;
}

}  // namespace thimble::memory
