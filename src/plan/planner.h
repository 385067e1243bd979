#pragma once
// Memory planning: buffers with sizes and lifetimes -> exact offsets in one arena.
//
// The lower bound is the largest sum of the sizes that live at one moment: no placement can need
// less. The planner tries a family of first-fit orders; where none meets the bound, an exact search
// (exact.h) looks for a better placement or proves that there is none, as long as its budget of
// steps lasts: a count, not a time, so that every machine plans alike. Where the peak equals the
// bound the result is proven minimal, else the gap is what `compile` prints. Placement is a dynamic
// storage allocation problem (NP-hard); networks are mostly chains, where first fit by decreasing
// size already meets the bound.
//
// A call that reads its operand from the front to the back may write its result over it, if that
// begins far enough below: an Overlap says how far. Both then share the step in which the one dies
// and the other is born. Tested by tests/unit/plan_test.cpp.

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::plan {

struct Buffer {
  int64_t bytes = 0;
  int first = 0;  // step that writes it first
  int last = 0;   // last step that touches it, inclusive
};

/// Buffer `result` may share bytes with `operand`, whose last step is its first, if it begins at
/// least `lead` (more than 0) bytes before it; else the two lie apart like all others.
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

/// Steps of the exact search that a plan of a whole program is worth: some tens of milliseconds.
inline constexpr int64_t kProgramSteps = 100'000;

/// Offsets and sizes are multiples of `alignment` (a power of two). `search_steps`: of the exact
/// search, if the quick ones leave a gap.
[[nodiscard]] Placement place(std::span<const Buffer> buffers, int64_t alignment,
                              std::span<const Overlap> overlaps = {}, int64_t search_steps = 0);

/// What no placement can be below: the bound that place() begins with.
[[nodiscard]] int64_t live_bytes(std::span<const Buffer> buffers, int64_t alignment,
                                 std::span<const Overlap> overlaps);

/// True if no two buffers that live at the same time share bytes, but for what an Overlap allows,
/// and all lie in [0, peak).
[[nodiscard]] bool is_valid(std::span<const Buffer> buffers, const Placement& placement,
                            std::span<const Overlap> overlaps = {});

}  // namespace thimble::plan
