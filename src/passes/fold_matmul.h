#pragma once
// fold_matmul(graph): a product by a number beside a matmul (before either operand, with movement
// between, or behind the result) becomes its `scale`, and an exchange of the last two dimensions
// before its second operand becomes `transpose_b`. Only where nothing else reads what is replaced.
// Values change by float rounding at most. Tests: tests/unit/passes_fold_matmul_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_matmul(const ir::Graph& graph);
}
