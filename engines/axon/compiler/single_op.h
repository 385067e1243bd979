// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes a graph of one operator. Used to query whether the NPU supports that operator.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::engine::axon {

/// Returns a graph that contains only `op`. Non-constant operands become graph inputs. For a
/// padding that only convolutions read, the graph includes these convolutions.
[[nodiscard]] Result<ir::Graph> single_op_graph(const ir::Graph& graph, const ir::Op& op);

}  // namespace thimble::engine::axon
