#pragma once
// The nodes that the outputs depend on.

#include <set>
#include <string>
#include <vector>

#include "formats/pt2/program.h"

namespace thimble::import_pt2 {

/// Returns the names of the nodes that an output depends on, and of all in-place operators.
/// `nodes`: all nodes in the order of the graph. Nodes, not IR operators, are traversed, because
/// composed views leave operators without readers.
[[nodiscard]] std::set<std::string> needed_nodes(
    const formats::pt2::ExportedProgram& program,
    const std::vector<const formats::pt2::Node*>& nodes);

}  // namespace thimble::import_pt2
