#include "ir/op_cost.h"

#include <algorithm>

namespace thimble::ir {

bool is_window(OpKind kind) {
  switch (kind) {
    case OpKind::adaptive_max_pool2d:
    case OpKind::max_pool2d16:
    case OpKind::max_pool2d:
    case OpKind::qadaptive_avg_pool2d:
    case OpKind::qavg_pool2d16:
    case OpKind::qavg_pool2d:
    case OpKind::qconv2d16:
    case OpKind::qconv2d:
    case OpKind::qconv_transpose2d16:
    case OpKind::qconv_transpose2d:
    case OpKind::qresize_bilinear:
      return true;
    default:
      return false;
  }
}
bool is_data_movement(OpKind kind) {
  switch (kind) {
    case OpKind::concat:
    case OpKind::copy:
    case OpKind::expand:
    case OpKind::gather:
    case OpKind::gather_elements:
    case OpKind::pad:
    case OpKind::permute:
    case OpKind::reshape:
    case OpKind::slice:
      return true;
    default:
      return false;
  }
}

int64_t macs_of(const Graph& graph, const Op& op) {
  const auto is = [&op](std::initializer_list<OpKind> kinds) {
    return std::ranges::find(kinds, op.kind) != kinds.end();
  };
  if (is({OpKind::matmul, OpKind::qmatmul, OpKind::qmatmul16})) {
    return graph.type(op.output).elements() * graph.type(op.inputs[0]).shape.back();
  }
  if (is({OpKind::conv_transpose2d, OpKind::qconv_transpose2d, OpKind::qconv_transpose2d16})) {
    const Type& weights = graph.type(op.inputs[1]);
    return graph.type(op.inputs[0]).elements() * (weights.elements() / weights.shape[0]);
  }
  if (is({OpKind::qgru, OpKind::qlstm, OpKind::qrnn})) {
    const size_t w_ih = op.kind == OpKind::qlstm ? 3 : 2;
    const Type& y = graph.type(op.output);
    return y.elements() / y.shape.back() *
           (graph.type(op.inputs[w_ih]).elements() + graph.type(op.inputs[w_ih + 1]).elements());
  }
  if (!is({OpKind::conv2d, OpKind::qconv2d, OpKind::qconv2d16, OpKind::linear, OpKind::qlinear,
           OpKind::qlinear16})) {
    return 0;
  }
  const Type& weights = graph.type(op.inputs[1]);
  return graph.type(op.output).elements() * (weights.elements() / weights.shape[0]);
}

int64_t macs_or_elements(const Graph& graph, const Op& op) {
  return std::max(macs_of(graph, op), graph.type(op.output).elements());
}

}  // namespace thimble::ir
