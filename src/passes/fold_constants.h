// SPDX-License-Identifier: Apache-2.0
#pragma once
// fold_constants(graph): computes operators whose operands are all constants, with the reference
// evaluator. Values do not change. An operator is kept if its result would be much larger than its
// operands, for example an expand of a small constant. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_constants(const ir::Graph& graph);
}
