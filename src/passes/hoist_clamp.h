#pragma once
// hoist_clamp(graph): clamp(move(x)) becomes move(clamp(x)) where move is max_pool2d, reshape,
// permute, gather or copy and x comes from arithmetic that an integer clamp can be part of. The
// usual case is relu(max_pool2d(conv2d(..))). clamp(concat(x, y)) becomes concat(clamp(x),
// clamp(y)) if that is so for each of them. Values do not change: a clamp is monotone. Holds only
// where x and the moved value have no other reader. Tests: tests/unit/passes_simplify.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> hoist_clamp(const ir::Graph& graph);
}
