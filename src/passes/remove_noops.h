// SPDX-License-Identifier: Apache-2.0
#pragma once
// remove_noops(graph): removes operators that change nothing: copy, reshape to the same shape,
// permute by the identity, slice of everything, concat of one operand, expand to the same shape,
// pad by zero elements. Chains of reshape, and of permute, become one operator.
// Values do not change, and outputs keep their dim_order: a copy that only changes the memory order
// of an output is kept. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> remove_noops(const ir::Graph& graph);
}
