#pragma once
// remove_noops(graph): operators that change nothing are gone: copy, reshape to the same shape,
// permute by the identity, slice of everything, concat of one, expand to the same shape, pad by
// nothing. Chains of reshape, and of permute, become one operator.
// Values do not change; outputs keep their dim_order (a copy that only an output's order needs
// stays). Tests: tests/unit/passes_simplify.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> remove_noops(const ir::Graph& graph);
}
