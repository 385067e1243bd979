// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loop nests of packed operators (abi/packed_ops.h): converts strides by logical dimension to
// abi::Nest.

#include <optional>
#include <vector>

#include "abi/packed_ops.h"
#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::engine::cortex_m {

/// One loop: the number of iterations, and the stride in elements in both operands.
struct LoopNestAxis {
  int64_t extent, first, second;
};

/// Returns the loops in the given order. Loops of extent 1 are removed; loops that are contiguous
/// in both operands are merged. Returns nothing if more loops remain than a Nest has, or if a
/// stride does not fit. `free_order`: the kernel's result does not depend on the order. The
/// innermost loop then becomes the one that is contiguous in both operands, or else the longest.
[[nodiscard]] std::optional<abi::LoopNest> make_loop_nest(const std::vector<LoopNestAxis>& axes,
                                                          bool free_order);

/// Returns the logical dimensions of a type in memory order, outermost first.
[[nodiscard]] std::vector<size_t> memory_order(const ir::Type& type);
/// Returns the strides of `operand`, broadcast to `shape`, in elements per dimension of `shape`.
[[nodiscard]] std::vector<int64_t> broadcast_strides(const ir::Type& operand,
                                                     const ir::Shape& shape);

/// An operand of the operator: a value, or the bytes of a constant in its memory order.
[[nodiscard]] Argument operand(const ir::Graph& graph, ir::ValueId id);

}  // namespace thimble::engine::cortex_m
