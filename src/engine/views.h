#pragma once
// Slices and concatenations that are a matter of addresses: the pieces are whole runs of bytes.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace thimble::engine {

/// An operator whose result and operands are the same bytes, if they lie in the right places.
struct View {
  /// For each operand: where in the result it begins. A slice begins before its result: the number
  /// is negative.
  std::vector<int64_t> at;
};
/// Nothing for operators that compute, repeat, reorder or skip within a run.
[[nodiscard]] std::optional<View> view_of(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine
