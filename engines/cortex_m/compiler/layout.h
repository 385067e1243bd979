// SPDX-License-Identifier: Apache-2.0
#pragma once
// assign_layouts: assigns a memory order to every value and adds the remaining copies.
//
// Convolutions and pools require NHWC. Most reordering needs no copy. A permute is free if its
// result has the matching dim_order, so two permutes that cancel cost nothing. Operators with a
// dimension attribute (concat, slice, softmax, ...) run in the *physical frame*, a contiguous
// tensor with the dimensions in memory order. A flatten between a convolution and a linear layer
// permutes the linear weights instead of the data. The rest becomes `copy` operators. Values are
// unchanged. Tested by tests/conformance/cortex_m_conformance_test.cpp.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {
/// Returns the graph with memory orders; `calls` is still empty.
[[nodiscard]] Result<Lowered> assign_layouts(const ir::Graph& graph, Dialect dialect);
}  // namespace thimble::engine::cortex_m
