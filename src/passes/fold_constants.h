#pragma once
// fold_constants(graph): operators whose operands are all constants are computed now, by the
// evaluator. Values do not change. A result is left uncomputed where it would be much larger than
// its operands (an expand of a small constant). Tests: tests/unit/passes_simplify.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_constants(const ir::Graph& graph);
}
