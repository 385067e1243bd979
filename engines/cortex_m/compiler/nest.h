#pragma once
// How a packed operator of abi/packed_rows.h walks through two operands: from strides by logical
// dimension to abi::Nest.

#include <optional>
#include <vector>

#include "abi/packed_rows.h"
#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// So many steps, each of so many elements in either operand.
struct NestAxis {
  int64_t extent, first, second;
};

/// The axes in the given order, without those of extent 1, those that are one run in both operands
/// melted. Nothing if that is more than a nest has, or if a step does not fit. `free_order`: the
/// kernel's result does not depend on the order, and the innermost axis becomes the one that is a
/// run of elements in both, else the longest.
[[nodiscard]] std::optional<abi::Nest> make_nest(const std::vector<NestAxis>& axes,
                                                 bool free_order);

/// Logical dimensions of a type as they lie in memory, outermost first.
[[nodiscard]] std::vector<size_t> memory_order(const ir::Type& type);
/// Strides in elements of `operand`, which broadcasts to `shape`, by dimension of `shape`.
[[nodiscard]] std::vector<int64_t> broadcast_strides(const ir::Type& operand,
                                                     const ir::Shape& shape);

/// An operand of the operator: a value, or the bytes of a constant in its memory order.
[[nodiscard]] Argument operand(const ir::Graph& graph, ir::ValueId id);

}  // namespace thimble::engine::cortex_m
