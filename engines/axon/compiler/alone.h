#pragma once
// One operator as a region of its own, to ask what the NPU makes of it.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

/// Its operands are inputs but for constants. A padding takes the convolutions along that read it.
[[nodiscard]] Result<ir::Graph> alone(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::axon
