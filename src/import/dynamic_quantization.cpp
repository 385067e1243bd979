// SPDX-License-Identifier: Apache-2.0
#include "import/dynamic_quantization.h"

#include "import/node_tensors.h"

namespace thimble::import_pt2 {

void record_dynamic_results(Context& context, const formats::pt2::Node& node) {
  bool reads_scale = false, reads_result = false;
  for_each_operand(node, [&](const std::string& name) {
    reads_scale = reads_scale || context.dynamic_scales.contains(name);
    reads_result = reads_result || context.dynamic_results.contains(name);
  });
  if (!reads_scale && !reads_result) return;
  for_each_result(node, [&](const std::string& name) {
    if (!context.tensors.is_bound(name)) return;
    const auto id = context.tensors.read(name, {});
    if (!id.ok()) return;
    const bool is_constant = context.builder.constant_of(*id) != nullptr;
    if (is_constant && reads_scale) context.dynamic_scales.insert(name);
    if (!is_constant) context.dynamic_results.insert(name);
  });
}

std::vector<std::string> quantization_notes(const Context& context) {
  std::vector<std::string> notes;
  if (!context.dynamic_scales.empty()) {
    notes.emplace_back(
        "dynamic quantization is replaced: scales of activations are constants, chosen from the "
        "calibration data");
  }
  if (context.grouped_weights > 0) {
    notes.push_back(fmt::format(
        "weights with one scale per group (tensors: {}) are quantized again, by default to 8 bits "
        "with one scale per output channel",
        context.grouped_weights));
  }
  return notes;
}

}  // namespace thimble::import_pt2
