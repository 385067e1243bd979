// SPDX-License-Identifier: Apache-2.0
#include "ir/op_cost.h"

#include <algorithm>

namespace thimble::ir {

size_t w_ih_operand(const Graph& graph, const Op& op) {
  size_t operand = 1;
  while (graph.type(op.inputs[operand]).shape.size() == 3) ++operand;  // h0, c0
  return operand;
}

int64_t weights_per_step(const Graph& graph, const Op& op) {
  const size_t w_ih = w_ih_operand(graph, op);
  return graph.type(op.inputs[w_ih]).elements() + graph.type(op.inputs[w_ih + 1]).elements();
}

int64_t macs_of(const Graph& graph, const Op& op) {
  const Type& y = graph.type(op.output);
  switch (category_of(op.kind)) {
    case OpCategory::kConv:
    case OpCategory::kLinear: {
      const Type& weights = graph.type(op.inputs[1]);
      return y.elements() * (weights.elements() / weights.shape[0]);
    }
    case OpCategory::kConvTranspose: {
      const Type& weights = graph.type(op.inputs[1]);
      return graph.type(op.inputs[0]).elements() * (weights.elements() / weights.shape[0]);
    }
    case OpCategory::kMatmul:
      return y.elements() * graph.type(op.inputs[0]).shape.back();
    case OpCategory::kRecurrent:
      return y.elements() / y.shape.back() * weights_per_step(graph, op);
    default:
      return 0;
  }
}

int64_t total_macs(const Graph& graph) {
  int64_t sum = 0;
  for (const Op& op : graph.ops()) sum += macs_of(graph, op);
  return sum;
}

int64_t macs_or_elements(const Graph& graph, const Op& op) {
  return std::max(macs_of(graph, op), graph.type(op.output).elements());
}

}  // namespace thimble::ir
