#pragma once
// The target-independent passes over a float graph, in the order they run.
//
// Before: any checked graph. After: the same values (up to float rounding), with batch norms folded
// into weights or written as mul and add, constants folded, nothing that only renames.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> run_float_passes(const ir::Graph& graph);
}
