// SPDX-License-Identifier: Apache-2.0
#include "engines/cortex_m/compiler/sum_limit.h"

#include <algorithm>

#include "ir/op_cost.h"
#include "ir/op_traits.h"

namespace thimble::engine::cortex_m {

Sum sum_of(const ir::Graph& graph, const ir::Op& op) {
  const auto shape = [&](size_t i) -> const ir::Shape& { return graph.type(op.inputs[i]).shape; };
  const ir::OpCategory category = ir::category_of(op.kind);
  if (category == ir::OpCategory::kRecurrent) {
    const size_t w_ih = ir::w_ih_operand(graph, op);
    return {std::max(shape(w_ih)[1], shape(w_ih + 1)[1])};
  }
  if (op.inputs.empty() || graph.type(op.inputs[0]).dtype != ir::DType::kI8) return {};
  switch (category) {
    case ir::OpCategory::kConv:
      return {shape(1)[1] * shape(1)[2] * shape(1)[3]};
    case ir::OpCategory::kConvTranspose:
      return {shape(1)[0] / op.get(ir::attr::groups) * shape(1)[2] * shape(1)[3]};
    case ir::OpCategory::kLinear:
      return {shape(0).back()};
    case ir::OpCategory::kMatmul:
      return {shape(0).back(), abi::kMaxMatmulDepth};
    default:
      return {};
  }
}

}  // namespace thimble::engine::cortex_m
