#pragma once
// Memory planning: buffers with sizes and lifetimes -> exact offsets in one arena.
//
// The lower bound is the largest sum of the sizes that live at one moment: no placement can need
// less. The planner tries a family of first-fit orders and then a bounded search that looks for a
// placement at the bound; where its peak equals the bound the result is proven minimal, else the
// gap is what `compile` prints. Placement is a dynamic storage allocation problem (NP-hard);
// networks are mostly chains, where first fit by decreasing size already meets the bound. Tested by
// tests/unit/plan_test.cpp.

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::plan {

struct Buffer {
  int64_t bytes = 0;
  int first = 0;  // step that writes it first
  int last = 0;   // last step that touches it, inclusive
};

struct Placement {
  std::vector<int64_t> offsets;  // one per buffer; 0 for empty buffers
  int64_t peak_bytes = 0;
  int64_t lower_bound_bytes = 0;
  [[nodiscard]] bool proven_minimal() const { return peak_bytes == lower_bound_bytes; }
};

/// Offsets and sizes are multiples of `alignment` (a power of two).
[[nodiscard]] Placement place(std::span<const Buffer> buffers, int64_t alignment);

/// True if no two buffers that live at the same time overlap, and all lie in [0, peak).
[[nodiscard]] bool is_valid(std::span<const Buffer> buffers, const Placement& placement);

}  // namespace thimble::plan
