// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/network.h"

#include <fmt/format.h>

namespace thimble::engine::axon {

std::string_view operation_name(Operation operation) {
  switch (operation) {
#define AXON_OPERATION(name, number, list_name, report_name) \
  case Operation::k##name:                                   \
    return report_name;
#include "engines/axon/container/operations.def"
#undef AXON_OPERATION
  }
  return "LAYER";
}

std::string layer_text(const Layer& layer) {
  std::string text(operation_name(layer.operation));
  if (layer.kernel_h > 0) text += fmt::format(" {}x{}", layer.kernel_h, layer.kernel_w);
  if (layer.stride_y != layer.stride_x) {
    text += fmt::format(" s{}x{}", layer.stride_y, layer.stride_x);
  } else if (layer.stride_y > 1) {
    text += fmt::format(" s{}", layer.stride_y);
  }
  if (layer.operation == Operation::kFullyConnected && layer.per_channel()) text += " per channel";
  if (layer.activation == Activation::kRelu) text += " relu";
  if (layer.activation == Activation::kLeakyRelu) text += " leaky";
  return text;
}

}  // namespace thimble::engine::axon
