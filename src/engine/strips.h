#pragma once
// Strips: a run of operators on images that is worked on a few rows at a time, so that what lies
// between the first and the last of them is never there as a whole.
//
// Each strip makes the next rows of the last result. Going backwards, every operator makes the rows
// that its readers still miss; rows that a window needs again in the next strip are kept: the end
// of the old rows is copied in front of the new ones (a line buffer). Making them again instead
// would cost the multiplications of all operators before, more than any copy of them. So nothing is
// computed twice, and what strips cost is copies and calls.
//
// The result is a graph like any other, of slices, concatenations and the operators on fewer rows,
// which the evaluator judges; that slices and pieces lie in place without a copy is for who plans
// memory. Tested by tests/unit/strips_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

/// Operators `first` to `last` of the graph, in strips of so many rows of the last one's result.
struct Strips {
  int first = 0, last = 0;
  int64_t rows = 1;
  bool operator==(const Strips&) const = default;
};

struct StripsCost {
  int64_t strips = 0;
  int64_t live_bytes = 0;    // about what is in memory at most, with the operands and the result
  int64_t copied_bytes = 0;  // from strip to strip
  int64_t calls = 0;         // of the operators, in all strips
};

/// Nothing where these operators cannot be worked on in strips: only the last one's result may be
/// read by others, all are windows over, or element by element on, one image in rows.
/// `owns_inputs`: the graph's inputs are in memory too; else the rows of them that a strip reads
/// are copied there.
[[nodiscard]] std::optional<StripsCost> cost_of_strips(const ir::Graph& graph, const Strips& strips,
                                                       bool owns_inputs = false);

/// `all` may be worked on in strips and do not overlap.
[[nodiscard]] Result<ir::Graph> in_strips(const ir::Graph& graph, std::span<const Strips> all);

}  // namespace thimble::engine
