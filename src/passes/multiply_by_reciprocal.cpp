// SPDX-License-Identifier: Apache-2.0
#include "passes/multiply_by_reciprocal.h"

#include <cmath>

namespace thimble::passes {
namespace {

/// Returns nullopt if the value is not constant, has one element, or has an element whose
/// reciprocal is not finite.
std::optional<ir::Tensor> reciprocal(const ir::Value& value) {
  if (value.constant == nullptr || value.type.elements() == 1) return std::nullopt;
  ir::Tensor result = *value.constant;
  for (float& x : result.data<float>()) {
    x = 1 / x;
    if (!std::isfinite(x)) return std::nullopt;
  }
  return result;
}

}  // namespace

Result<ir::Graph> multiply_by_reciprocal(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const ir::Op& op : graph.ops()) {
    std::optional<ir::Tensor> factor;
    if (op.kind == ir::OpKind::div) factor = reciprocal(graph.value(op.inputs[1]));
    if (!factor) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const ir::Value& result = graph.value(op.output);
    const ir::ValueId constant = rewriter.to().add_constant(
        result.name + ".factor", std::make_shared<ir::Tensor>(*std::move(factor)));
    THIMBLE_TRY(const ir::ValueId made,
                rewriter.to().add(ir::OpKind::mul, {rewriter.map(op.inputs[0]), constant}, {},
                                  op.source, {result.name, result.type.dim_order, {}}));
    rewriter.set(op.output, made);
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
