// SPDX-License-Identifier: Apache-2.0
#include "passes/mask_exp.h"

#include <algorithm>
#include <limits>

#include "passes/uses.h"

namespace thimble::passes {
namespace {

using ir::Graph;
using ir::Op;
using ir::OpKind;
using ir::ValueId;

bool is_minus_infinity(const ir::Value& value) {
  if (value.constant == nullptr || value.type.dtype != ir::DType::kF32) return false;
  const auto elements = value.constant->data<float>();
  return !elements.empty() && std::all_of(elements.begin(), elements.end(), [](float x) {
    return x == -std::numeric_limits<float>::infinity();
  });
}

/// Returns the index of the operand of `select` that is -inf; 0 if there is none.
size_t masked_operand(const Graph& graph, const Op& select) {
  if (select.kind != OpKind::where) return 0;
  for (const size_t i : {size_t{1}, size_t{2}}) {
    if (is_minus_infinity(graph.value(select.inputs[i]))) return i;
  }
  return 0;
}

}  // namespace

Result<Graph> mask_exp(const Graph& graph) {
  const Uses uses(graph);
  ir::Rewriter rewriter(graph);
  for (const Op& op : graph.ops()) {
    // The operator before an exp is copied too; it has no reader left and is removed.
    const Op* select = op.kind == OpKind::exp ? uses.producer(op.inputs[0]) : nullptr;
    const size_t masked = select != nullptr && uses.only_reader(select->output) != nullptr
                              ? masked_operand(graph, *select)
                              : 0;
    if (masked == 0) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    const ir::Value& result = graph.value(op.output);
    const ValueId zero = rewriter.to().add_constant(
        result.name + ".masked", std::make_shared<ir::Tensor>(ir::zeros(ir::DType::kF32, {})));
    // The operands of a `where` with 0 in place of -inf and `x` in place of the other value.
    const auto selected = [&](ValueId x) {
      const ValueId condition = rewriter.map(select->inputs[0]);
      return masked == 1 ? std::vector<ValueId>{condition, zero, x}
                         : std::vector<ValueId>{condition, x, zero};
    };
    const ir::Value& x = graph.value(select->output);
    THIMBLE_TRY(const ValueId finite,
                rewriter.to().add(OpKind::where, selected(rewriter.map(select->inputs[3 - masked])),
                                  {}, select->source, {x.name + ".finite", x.type.dim_order, {}}));
    THIMBLE_TRY(const ValueId power,
                rewriter.to().add(OpKind::exp, {finite}, {}, op.source,
                                  {result.name + ".all", result.type.dim_order, {}}));
    THIMBLE_TRY(const ValueId made, rewriter.to().add(OpKind::where, selected(power), {}, op.source,
                                                      {result.name, result.type.dim_order, {}}));
    rewriter.set(op.output, made);
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
