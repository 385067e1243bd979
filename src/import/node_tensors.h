// SPDX-License-Identifier: Apache-2.0
#pragma once
// The facts that a node of the archive's graph states: its tensors, its name, its source line.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/pt2/program.h"
#include "ir/graph.h"

namespace thimble::import_pt2 {

/// Calls `visit` with the name of each tensor of an argument or output.
template <typename Visit>
void for_each_tensor(const formats::pt2::Argument& argument, Visit visit) {
  using formats::pt2::TensorName;
  if (const auto* one = std::get_if<TensorName>(&argument)) {
    visit(one->name);
  } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument)) {
    for (const auto& each : *list) visit(each.name);
  } else if (const auto* some = std::get_if<std::vector<std::optional<TensorName>>>(&argument)) {
    for (const auto& each : *some) {
      if (each) visit(each->name);
    }
  }
}

/// Calls `visit` with the name of each tensor that the node reads.
template <typename Visit>
void for_each_operand(const formats::pt2::Node& node, Visit visit) {
  for (const formats::pt2::NamedArgument& input : node.inputs) for_each_tensor(input.value, visit);
}

/// Calls `visit` with the name of each tensor that the node produces.
template <typename Visit>
void for_each_result(const formats::pt2::Node& node, Visit visit) {
  for (const formats::pt2::Argument& output : node.outputs) for_each_tensor(output, visit);
}

/// Returns the name of the first tensor that the node produces. The archive's graph uses this name.
[[nodiscard]] std::string name_of(const formats::pt2::Node& node);

/// Returns the line of the user's code, the module and the operator of the node.
[[nodiscard]] ir::Source source_of(const formats::pt2::Node& node);

/// Returns true if the node has results, and all of them are Python numbers.
[[nodiscard]] bool has_only_scalar_results(const formats::pt2::Node& node);

}  // namespace thimble::import_pt2
