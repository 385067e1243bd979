// SPDX-License-Identifier: Apache-2.0
#pragma once
// hoist_clamp(graph): rewrites clamp(move(x)) to move(clamp(x)). `move` is max_pool2d, reshape,
// permute, gather or copy, and x is the result of an operator whose integer form has a clamp. The
// usual case is relu(max_pool2d(conv2d(..))). clamp(concat(x, y)) becomes concat(clamp(x),
// clamp(y)) if this holds for x and y. Values do not change: a clamp is monotone. Requires that x
// and the moved value have no other reader. Tests: tests/unit/passes_simplify_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> hoist_clamp(const ir::Graph& graph);
}
