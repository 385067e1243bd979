// SPDX-License-Identifier: Apache-2.0
#include "import/needed_nodes.h"

#include <ranges>

#include "import/call.h"
#include "import/node_tensors.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;

std::set<std::string> needed_nodes(const pt2::ExportedProgram& program,
                                   const std::vector<const pt2::Node*>& nodes) {
  std::set<std::string> tensors, needed;
  for (const pt2::OutputSpec& spec : program.output_specs) tensors.insert(spec.value_name);
  for (const pt2::Node* node : std::views::reverse(nodes)) {
    bool wanted = is_in_place(short_target(node->target));
    for_each_result(*node,
                    [&](const std::string& name) { wanted = wanted || tensors.contains(name); });
    if (!wanted) continue;
    needed.insert(name_of(*node));
    for_each_operand(*node, [&](const std::string& name) { tensors.insert(name); });
  }
  return needed;
}

std::vector<bool> needed_values(const ir::Graph& graph, const std::vector<ir::ValueId>& results) {
  std::vector<bool> needed(graph.value_count(), false);
  for (const ir::ValueId id : results) needed[static_cast<size_t>(id)] = true;
  for (auto op = graph.ops().rbegin(); op != graph.ops().rend(); ++op) {
    if (!needed[static_cast<size_t>(op->output)]) continue;
    for (const ir::ValueId id : op->inputs) {
      if (id != ir::kNoValue) needed[static_cast<size_t>(id)] = true;
    }
  }
  return needed;
}

}  // namespace thimble::import_pt2
