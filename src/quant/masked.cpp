#include "quant/masked.h"

namespace thimble::quant {
namespace {

/// Returns true if a masked element of an operand remains masked in the result.
bool passes_masks(ir::OpKind kind) {
  return kind == ir::OpKind::add || kind == ir::OpKind::concat || kind == ir::OpKind::where ||
         ir::category_of(kind) == ir::OpCategory::kView;
}

}  // namespace

std::vector<bool> values_before_softmax(const ir::Graph& graph) {
  std::vector<bool> before(graph.value_count(), false);
  for (size_t i = graph.ops().size(); i-- > 0;) {
    const ir::Op& op = graph.ops()[i];
    const bool reaches = before[static_cast<size_t>(op.output)] && passes_masks(op.kind);
    if (op.kind != ir::OpKind::softmax && !reaches) continue;
    for (const ir::ValueId id : op.inputs) {
      if (graph.type(id).dtype == ir::DType::kF32) before[static_cast<size_t>(id)] = true;
    }
  }
  return before;
}

}  // namespace thimble::quant
