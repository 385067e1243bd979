// SPDX-License-Identifier: Apache-2.0
#include "quant/masked.h"

#include <cmath>
#include <limits>

namespace thimble::quant {
namespace {

/// Returns true if a masked element of an operand remains masked in the result.
bool passes_masks(ir::OpKind kind) {
  return kind == ir::OpKind::add || kind == ir::OpKind::concat || kind == ir::OpKind::where ||
         kind == ir::OpKind::gather || kind == ir::OpKind::gather_elements ||
         ir::category_of(kind) == ir::OpCategory::kView;
}

/// Returns the limit for the operands of the operator; NaN if it gives its operands no meaning as
/// masks.
double limit_of(ir::OpKind kind) {
  if (kind == ir::OpKind::softmax) return kMaskedMax;
  return kind == ir::OpKind::compare || kind == ir::OpKind::argmax
             ? kOrderedMaskedMax
             : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::vector<double> mask_limits(const ir::Graph& graph) {
  std::vector<double> limits(graph.value_count(), std::numeric_limits<double>::quiet_NaN());
  for (size_t i = graph.ops().size(); i-- > 0;) {
    const ir::Op& op = graph.ops()[i];
    const double limit =
        passes_masks(op.kind) ? limits[ir::index_of(op.output)] : limit_of(op.kind);
    for (const ir::ValueId id : op.inputs) {
      if (id == ir::kNoValue || graph.type(id).dtype != ir::DType::kF32) continue;
      double& own = limits[ir::index_of(id)];
      own = std::fmax(own, limit);  // the one that is not NaN
    }
  }
  return limits;
}

}  // namespace thimble::quant
