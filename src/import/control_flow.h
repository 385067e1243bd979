// SPDX-License-Identifier: Apache-2.0
#pragma once
// Control flow: `torch.cond`, `while_loop`, `scan` and `map`. The importer replaces such a node by
// the nodes of its subgraphs, so that handlers see ATen operators only:
//
//   cond         the branch, if the predicate is known; else both branches and a `where` per result
//   while_loop   one iteration after the other, while the predicate is known to be true
//   scan, map    one iteration per slice of the operands

#include <string_view>
#include <vector>

#include "import/call.h"

namespace thimble::import_pt2 {

/// Limit of the nodes that all control flow of a graph is replaced by: the time and the memory to
/// compile a small file stay bounded (a node takes 2 KB).
constexpr size_t kExpandedNodesMax = 7'500;
[[nodiscard]] Error too_many_nodes();

[[nodiscard]] bool is_control_flow(std::string_view target);

/// Returns why another operator with a subgraph is refused, and what to do; empty for other
/// operators. `target` is without "torch.ops.".
[[nodiscard]] std::string_view subgraph_refusal(std::string_view target);

/// Returns the nodes that compute the results of `node`, and adds their types to the context. A
/// `while_loop` needs two steps for an iteration: the last of the nodes is then the loop itself,
/// with the value of its predicate or with the operands of the next iteration.
[[nodiscard]] Result<std::vector<formats::pt2::Node>> expand(Context& context,
                                                             const formats::pt2::Node& node);

}  // namespace thimble::import_pt2
