#pragma once
// What kind of work an operator is, and how much of it.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::ir {

/// Operators that see an image through a window: convolutions, pools, resizes.
[[nodiscard]] bool is_window(OpKind kind);
/// Operators that compute nothing.
[[nodiscard]] bool only_moves(OpKind kind);

/// Multiplications of two operands' elements; 0 for operators that are not made of them.
[[nodiscard]] int64_t macs_of(const Graph& graph, const Op& op);
/// The same, or the elements of the result if those are more.
[[nodiscard]] int64_t work_of(const Graph& graph, const Op& op);

}  // namespace thimble::ir
