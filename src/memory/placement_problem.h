// SPDX-License-Identifier: Apache-2.0
#pragma once
// A placement problem in the form that the searches use: rounded sizes, and the minimum distance
// for each pair of buffers that are live at the same time.

#include <cstdint>
#include <span>
#include <vector>

#include "memory/placement.h"

namespace thimble::memory {

/// A neighbor of buffer `a`: a buffer that is live at the same time. `a` must start at least
/// `above` bytes above the neighbor or at least `below` bytes below it. Both are > 0.
struct Neighbor {
  int other = 0;
  int64_t above = 0;
  int64_t below = 0;
};

struct Problem {
  int64_t alignment = 1;
  std::vector<Buffer> buffers;
  std::vector<std::vector<Neighbor>> neighbors;
  std::vector<Overlap> overlaps;  // leads are rounded and not larger than the result
};

[[nodiscard]] Problem make_problem(std::span<const Buffer> buffers, int64_t alignment,
                                   std::span<const Overlap> overlaps);
/// Returns the problem restricted to these buffers, renumbered in the order of `members`.
[[nodiscard]] Problem restrict_to(const Problem& problem, std::span<const int> members);

/// Returns the largest sum of sizes live at one step, minus the bytes that may be shared in it.
[[nodiscard]] int64_t lower_bound_bytes(const Problem& problem);

/// Returns the lowest offset at which buffer i fits between the placed neighbors (offset >= 0).
[[nodiscard]] int64_t first_fit(const Problem& problem, const std::vector<int64_t>& offsets, int i);

}  // namespace thimble::memory
