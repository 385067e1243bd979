#pragma once
// assign_layouts: gives every value its memory order and writes out the copies that remain.
//
// Convolutions and pools want NHWC. Reordering is first renamed away: a permute is free if its
// result takes the matching dim_order, so two that cancel cost nothing; operators that index by
// dimension (concat, slice, softmax, ...) run on the *physical* frame, a contiguous tensor with the
// dimensions in memory order; a flatten between a convolution and a linear layer permutes the
// linear weights instead of the data. Only what is left becomes a `copy` with work to do. Values:
// identical. Tested by tests/unit/cortex_m_layout_test.cpp.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
/// Operators on elements at the same place of all operands, which broadcast.
[[nodiscard]] bool is_elementwise(ir::OpKind kind);
/// The result's `calls` are still empty.
[[nodiscard]] Result<Lowered> assign_layouts(const ir::Graph& graph, Dialect dialect);
}  // namespace thimble::engine::cortex_m
