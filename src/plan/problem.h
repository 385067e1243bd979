#pragma once
// A placement problem as the searches see it: rounded sizes, and for each pair of buffers that
// meet in time how far apart they begin.

#include <cstdint>
#include <span>
#include <vector>

#include "plan/planner.h"

namespace thimble::plan {

/// Of buffer `a`, with whom it meets: either a begins `above` or more bytes above the other, or the
/// other `below` or more bytes above a. Both are more than 0.
struct Neighbour {
  int other = 0;
  int64_t above = 0;
  int64_t below = 0;
};

struct Problem {
  int64_t alignment = 1;
  std::vector<Buffer> buffers;
  std::vector<std::vector<Neighbour>> neighbours;
  std::vector<Overlap> overlaps;  // leads rounded, no larger than the result
};

[[nodiscard]] Problem make_problem(std::span<const Buffer> buffers, int64_t alignment,
                                   std::span<const Overlap> overlaps);
/// The problem of these buffers alone, numbered as they stand.
[[nodiscard]] Problem part_of(const Problem& problem, std::span<const int> members);

/// The largest sum of sizes at one moment, less what may be shared then.
[[nodiscard]] int64_t live_bound(const Problem& problem);

/// Lowest offset at which buffer i fits between the neighbours that are placed (offset >= 0).
[[nodiscard]] int64_t first_fit(const Problem& problem, const std::vector<int64_t>& offsets, int i);

}  // namespace thimble::plan
