#pragma once
// Operator categories and operation counts.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::ir {

/// Returns true for window operators on images: convolutions, pools, resizes.
[[nodiscard]] bool is_window(OpKind kind);
/// Returns true for data movement operators, which compute nothing.
[[nodiscard]] bool is_data_movement(OpKind kind);

/// Returns the number of multiply-accumulates of two operands' elements; 0 for other operators.
[[nodiscard]] int64_t macs_of(const Graph& graph, const Op& op);
/// Returns macs_of(), or the number of elements of the result if that is larger.
[[nodiscard]] int64_t macs_or_elements(const Graph& graph, const Op& op);

}  // namespace thimble::ir
