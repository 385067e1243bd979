// SPDX-License-Identifier: Apache-2.0
#include "passes/fold_constants.h"

#include "eval/evaluate.h"

namespace thimble::passes {
namespace {

constexpr size_t kLargeBytes = 64 * 1024;

/// Returns true if all operands are constants of the new graph and the result is not much larger
/// than the operands. Quantized constants keep their quantized values and parameters.
bool foldable(const ir::Graph& to, const std::vector<ir::ValueId>& operands, ir::OpKind kind,
              const ir::Type& result) {
  if (kind == ir::OpKind::dequantize || kind == ir::OpKind::dequantize_channels) return false;
  size_t bytes = 0;
  for (const ir::ValueId id : operands) {
    if (id == ir::kNoValue) continue;
    if (to.value(id).constant == nullptr) return false;
    bytes += to.type(id).bytes();
  }
  return bytes > 0 && (result.bytes() <= kLargeBytes || result.bytes() <= bytes);
}

/// Evaluates the operator in a graph of its own.
Result<ir::Tensor> compute(const ir::Graph& to, const std::vector<ir::ValueId>& operands,
                           const ir::Op& op) {
  ir::Graph alone;
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId id : operands) {
    inputs.push_back(
        id == ir::kNoValue ? id : alone.add_constant("", to.value(id).constant, to.type(id).quant));
  }
  THIMBLE_TRY(const ir::ValueId result, alone.add(op.kind, inputs, op.attrs, op.source));
  alone.add_output(result);
  THIMBLE_TRY(auto outputs, eval::evaluate(alone, {}));
  return std::move(outputs[0]);
}

}  // namespace

Result<ir::Graph> fold_constants(const ir::Graph& graph) {
  ir::Rewriter rewriter(graph);
  for (const ir::Op& op : graph.ops()) {
    const ir::Value& old = graph.value(op.output);
    // The operands are those of the new graph, so one traversal folds whole chains. Only constants
    // are mapped here.
    bool all_constant = true;
    for (const ir::ValueId id : op.inputs) {
      all_constant = all_constant && (id == ir::kNoValue ||
                                      rewriter.to().value(rewriter.map(id)).constant != nullptr);
    }
    const auto operands = rewriter.map(op.inputs);
    if (!all_constant || !foldable(rewriter.to(), operands, op.kind, old.type)) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    THIMBLE_TRY(ir::Tensor value, compute(rewriter.to(), operands, op));
    const ir::ValueId id = rewriter.to().add_constant(
        old.name, std::make_shared<ir::Tensor>(std::move(value)), old.type.quant);
    rewriter.to().value(id).type.dim_order = old.type.dim_order;
    rewriter.set(op.output, id);
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
