// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lifetime of a buffer, counted in steps: calls of a program, kernels or layers of an NPU.

#include <algorithm>
#include <climits>

namespace thimble::memory {

/// The first and the last step that access a buffer. A default lifetime contains no step.
struct Lifetime {
  int first = INT_MAX;
  int last = -1;

  [[nodiscard]] bool is_empty() const { return last < first; }
  [[nodiscard]] int steps() const { return last - first + 1; }
  [[nodiscard]] bool contains(int step) const { return first <= step && step <= last; }
  [[nodiscard]] bool overlaps(const Lifetime& other) const {
    return first <= other.last && other.first <= last;
  }
  void add(int step) {
    first = std::min(first, step);
    last = std::max(last, step);
  }
  bool operator==(const Lifetime&) const = default;
};

}  // namespace thimble::memory
