// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a graph of one operator. Used to query what an engine does with that operator.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine {

/// Returns a graph that contains only `op`. Its constant operands stay constants, all other
/// operands become graph inputs.
[[nodiscard]] Result<ir::Graph> single_op_graph(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine
