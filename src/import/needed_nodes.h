// SPDX-License-Identifier: Apache-2.0
#pragma once
// The nodes and values that the outputs depend on.

#include <set>
#include <string>
#include <vector>

#include "formats/pt2/reader.h"
#include "ir/graph.h"

namespace thimble::import_pt2 {

/// Returns the names of the nodes that an output depends on, and of all in-place operators.
/// `nodes`: all nodes in the order of the graph. Nodes, not IR operators, are traversed, because
/// composed views leave operators without readers.
[[nodiscard]] std::set<std::string> needed_nodes(
    const formats::pt2::ExportedProgram& program,
    const std::vector<const formats::pt2::Node*>& nodes);

/// Returns for each value of the graph whether `results` depend on it.
[[nodiscard]] std::vector<bool> needed_values(const ir::Graph& graph,
                                              const std::vector<ir::ValueId>& results);

}  // namespace thimble::import_pt2
