// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace thimble {

/// Half-open range [begin, end) of rows, channels or other indices.
struct IndexRange {
  int64_t begin = 0, end = 0;
  [[nodiscard]] int64_t size() const { return end - begin; }
  bool operator==(const IndexRange&) const = default;
};

}  // namespace thimble
