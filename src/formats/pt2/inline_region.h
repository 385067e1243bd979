// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces a node that has a subgraph by the nodes of the subgraph.
//
// Regions only change a global setting of PyTorch, such as `torch.autocast(enabled=False)` or
// `torch.no_grad()`; the reader inlines them. The importer inlines the graphs of `cond`,
// `while_loop`, `scan` and `map`, once per iteration.

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_names.h"
#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// Separates the name and the number of a tensor of a subgraph (UniqueNames::add).
inline constexpr std::string_view kRegionSeparator = "_region";

/// Returns true for a node whose subgraph computes the same without its setting: gradient mode, or
/// autocast that is not enabled. `subgraph` is the index of the subgraph in node.inputs.
[[nodiscard]] bool is_region(const Node& node, size_t subgraph);

/// Names of the tensors that a subgraph is evaluated with.
struct SubgraphCall {
  std::vector<std::string> operands;  // one per input of the subgraph
  std::vector<std::string> results;   // one per output
};

/// Collects the names of the tensors of an argument; returns false if it is of another kind.
[[nodiscard]] bool add_tensors(const Argument& argument, std::vector<std::string>& names);

/// Appends the nodes of `subgraph` to `graph.nodes`, with their types. Results get the names of
/// `call`; other names become unique: `defined` has the names that are in use, and the new ones are
/// added. Nodes without a source line or module have those of `node`. Returns false and changes
/// nothing if `call` does not correspond to the inputs and outputs of the subgraph.
[[nodiscard]] bool inline_subgraph(const Graph& subgraph, const SubgraphCall& call,
                                   const Node& node, Graph& graph, UniqueNames& defined);

/// Appends the nodes of a region to `graph.nodes`. `subgraph` as for is_region(). Returns false and
/// changes nothing if operands or results of node and region do not correspond.
[[nodiscard]] bool inline_region(const Node& node, size_t subgraph, Graph& graph,
                                 UniqueNames& defined);

}  // namespace thimble::formats::pt2
