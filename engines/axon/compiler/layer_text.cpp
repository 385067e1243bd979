#include "engines/axon/compiler/network.h"

#include <fmt/format.h>

namespace thimble::engine::axon {

std::string_view operation_name(Operation operation) {
  switch (operation) {
    case Operation::kFullyConnected:
      return "FC";
    case Operation::kConv2d:
      return "CONV";
    case Operation::kDepthwise:
      return "DEPTHWISE";
    case Operation::kPointwise:
      return "POINTWISE";
    case Operation::kAveragePool:
      return "AVGPOOL";
    case Operation::kMaxPool:
      return "MAXPOOL";
    case Operation::kAdd:
      return "ADD";
    case Operation::kChannelPad:
      return "CHANNELPAD";
    case Operation::kVariableRead:
      return "READ";
    case Operation::kConcat:
      return "CONCAT";
    case Operation::kStridedSlice:
      return "SLICE";
    case Operation::kMultiply:
      return "MULTIPLY";
    case Operation::kMean:
      return "MEAN";
    case Operation::kVariableAssign:
      return "ASSIGN";
    case Operation::kSoftmax:
      return "SOFTMAX";
    case Operation::kSigmoid:
      return "SIGMOID";
    case Operation::kTanh:
      return "TANH";
    case Operation::kReshape:
      return "RESHAPE";
    case Operation::kSpaceToBatch:
      return "SPACETOBATCH";
    case Operation::kBatchToSpace:
      return "BATCHTOSPACE";
    case Operation::kResizeNearest:
      return "RESIZE";
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
