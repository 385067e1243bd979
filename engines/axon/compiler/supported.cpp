// SPDX-License-Identifier: Apache-2.0
// The rows of ops.def as text for the list of supported operators.

#include <algorithm>

#include "engines/axon/compiler/engine.h"

namespace thimble::engine::axon {

using ir::OpKind;

namespace {

constexpr OpKind kListedOps[] = {
#define AXON_LEGALIZE(op, function) OpKind::op,
#include "engines/axon/compiler/ops.def"
};

struct LimitRow {
  std::string_view layer, quantity;
  int64_t lowest, highest;
};
constexpr LimitRow kLimits[] = {
#define AXON_LIMIT(layer, quantity, lowest, highest, source) {#layer, #quantity, lowest, highest},
#include "engines/axon/compiler/ops.def"
};

/// Layer types of an operator; the limits of the layer type "any" apply to all operators.
struct Layers {
  OpKind op;
  std::vector<std::string_view> layers;
};
const std::vector<Layers>& layers() {
  static const std::vector<Layers> kLayers = {
      {OpKind::max_pool2d, {"max_pool"}},
      {OpKind::pad, {"channel_pad"}},
      {OpKind::qadaptive_avg_pool2d, {"average_pool"}},
      {OpKind::qavg_pool2d, {"average_pool"}},
      {OpKind::qconv2d, {"conv1d", "conv2d", "depthwise", "pointwise"}},
      {OpKind::qlinear, {"fully_connected"}},
      {OpKind::slice, {"strided_slice"}},
  };
  return kLayers;
}

/// Returns the limits of a layer type: "kernel height 1 to 16, ...".
std::string limits_of(std::string_view layer) {
  std::string text;
  for (const LimitRow& row : kLimits) {
    if (row.layer != layer) continue;
    text += fmt::format("{}{} {} to {}", text.empty() ? "" : ", ", words_of_name(row.quantity),
                        row.lowest, row.highest);
  }
  return text;
}

}  // namespace

std::vector<OpSupport> supported(const PartNpu& /*use*/) {
  std::vector<OpSupport> list;
  for (const OpKind op : kListedOps) {
    std::string limits;
    const auto found = std::ranges::find(layers(), op, &Layers::op);
    if (found != layers().end()) {
      for (const std::string_view layer : found->layers) {
        limits += fmt::format("{}{}: {}", limits.empty() ? "" : "; ", layer, limits_of(layer));
      }
    }
    list.push_back({std::string(ir::op_name(op)), std::move(limits)});
  }
  for (const std::string_view layer : {"any", "picture", "vector"}) {
    list.push_back({fmt::format("({})", layer), limits_of(layer)});
  }
  return list;
}

}  // namespace thimble::engine::axon
