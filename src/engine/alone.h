#pragma once
// One operator as a region of its own, to ask what an engine makes of it.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

/// Its operands are inputs, but for constants.
[[nodiscard]] Result<ir::Graph> alone(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine
