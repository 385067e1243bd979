#pragma once
// Regions of a graph that only change a global setting of PyTorch, such as `torch.autocast(enabled=
// False)` or `torch.no_grad()`. The export stores such a region as a node with a subgraph.

#include <unordered_set>

#include "formats/pt2/program.h"

namespace thimble::formats::pt2 {

/// Returns true for a node whose subgraph computes the same without its setting: gradient mode, or
/// autocast that is not enabled. `subgraph` is the index of the subgraph in node.inputs.
[[nodiscard]] bool is_region(const Node& node, size_t subgraph);

/// Moves the nodes of `region` to the end of `graph.nodes`. Their names become unique: `defined`
/// has the names that are in use, and those of the moved nodes are added. Returns false and changes
/// nothing if operands or results of `node` and `region` do not correspond.
[[nodiscard]] bool inline_region(const Node& node, size_t subgraph, Graph region, Graph& graph,
                                 std::unordered_set<std::string>& defined);

}  // namespace thimble::formats::pt2
