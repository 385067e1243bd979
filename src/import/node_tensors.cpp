// SPDX-License-Identifier: Apache-2.0
#include "import/node_tensors.h"

#include <algorithm>
#include <cstdint>

#include "import/call.h"

namespace thimble::import_pt2 {

namespace pt2 = formats::pt2;

std::string name_of(const pt2::Node& node) {
  for (const pt2::Argument& output : node.outputs) {
    if (const auto* one = std::get_if<pt2::TensorName>(&output)) return one->name;
  }
  return node.name;
}

ir::Source source_of(const pt2::Node& node) {
  ir::Source source;
  const size_t slash = node.source.file.find_last_of("/\\");
  source.file = slash == std::string::npos ? node.source.file : node.source.file.substr(slash + 1);
  source.line = static_cast<int>(std::clamp<int64_t>(node.source.line, 0, INT32_MAX));
  source.text = node.source.text;
  source.module = node.module_path;
  source.target = short_target(node.target);
  source.node = name_of(node);
  return source;
}

bool has_only_scalar_results(const pt2::Node& node) {
  return !node.outputs.empty() && std::ranges::all_of(node.outputs, [](const auto& output) {
    return std::holds_alternative<pt2::SymIntArg>(output) ||
           std::holds_alternative<pt2::SymFloatArg>(output) ||
           std::holds_alternative<pt2::SymBoolArg>(output) ||
           std::holds_alternative<std::vector<pt2::SymIntArg>>(output);
  });
}

}  // namespace thimble::import_pt2
