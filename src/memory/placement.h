// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory planning: assigns offsets in one arena to buffers with sizes and lifetimes.
//
// The lower bound is the largest sum of sizes live at one step: no placement needs less. The
// planner tries several first-fit orders. If none meets the bound, an exact search
// (exact_placement.h) looks for a better placement or proves that none exists. The search is
// limited by a number of steps and not by time, so every host gives the same plan. If the peak
// equals the bound, the result is proven minimal; otherwise `compile` prints the gap. Placement is
// the dynamic storage allocation problem (NP-hard). Most networks are chains, for which first fit
// by descending size meets the bound.
//
// A call that reads its operand from front to back may overwrite it with its result, if the result
// starts far enough below the operand. An Overlap states this distance. Both buffers are then live
// in the step in which the operand dies and the result is written. Test:
// tests/unit/placement_test.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "memory/lifetime.h"

namespace thimble::memory {

struct Buffer {
  int64_t bytes = 0;
  Lifetime life{0, 0};
  bool operator==(const Buffer&) const = default;
};

/// Permits buffer `result` to share bytes with `operand`, if the last step of `operand` is the
/// first step of `result`. `result` must start at least `lead` (> 0) bytes below `operand`;
/// otherwise the two must not overlap.
struct Overlap {
  int operand = 0;
  int result = 0;
  int64_t lead = 0;
};

struct Placement {
  std::vector<int64_t> offsets;  // one per buffer; 0 for empty buffers
  int64_t peak_bytes = 0;
  int64_t lower_bound_bytes = 0;
  [[nodiscard]] bool proven_minimal() const { return peak_bytes == lower_bound_bytes; }
};

/// Limit of exact-search steps for the plan of a whole program: some tens of milliseconds.
inline constexpr int64_t kProgramSteps = 100'000;

/// Offsets and sizes are multiples of `alignment` (a power of two). `search_steps` limits the exact
/// search, which runs only if the first-fit orders leave a gap.
[[nodiscard]] Placement place(std::span<const Buffer> buffers, int64_t alignment,
                              std::span<const Overlap> overlaps = {}, int64_t search_steps = 0);

/// Returns the lower bound with which place() starts.
[[nodiscard]] int64_t lower_bound_bytes(std::span<const Buffer> buffers, int64_t alignment,
                                        std::span<const Overlap> overlaps);

/// Returns true if no two buffers that are live at the same step share bytes, except where an
/// Overlap permits it, and all are inside [0, peak).
[[nodiscard]] bool is_valid(std::span<const Buffer> buffers, const Placement& placement,
                            std::span<const Overlap> overlaps = {});

}  // namespace thimble::memory
