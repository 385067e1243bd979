// SPDX-License-Identifier: Apache-2.0
#pragma once
// fold_matmul(graph): folds a mul by one number into the `scale` of a matmul. The mul may precede
// either operand, with data movement in between, or follow the result. A permute that swaps the
// last two dimensions of the second operand becomes `transpose_b`. A replaced value must have no
// other reader. Values are equal up to float rounding.
// Tests: tests/unit/passes_fold_matmul_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_matmul(const ir::Graph& graph);
}
