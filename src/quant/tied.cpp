// SPDX-License-Identifier: Apache-2.0
#include "quant/tied.h"

#include <algorithm>
#include <cmath>

#include "quant/weights.h"

namespace thimble::quant {
namespace {

using ir::Op;
using ir::OpKind;

bool reads_rows(const ir::Graph& graph, const Op& op) {
  if (op.kind != OpKind::gather || op.get(ir::attr::dim) != 0) return false;
  const ir::Value& table = graph.value(op.inputs[0]);
  return table.constant != nullptr && table.type.dtype == ir::DType::kF32 &&
         table.type.shape.size() == 2;
}

/// Returns true if the operator reads rows of a constant table in 8 bits.
bool reads_rows_of_codes(const ir::Graph& graph, const Plan& plan, size_t i) {
  const Op& op = graph.ops()[i];
  return reads_rows(graph, op) && plan.ops[i].role == Role::kLower &&
         !plan.wide[ir::index_of(plan.ops[i].result)] &&
         !plan.pins.constants.contains(op.inputs[0]);
}

bool are_equal(const ir::Tensor& a, const ir::Tensor& b) {
  return &a == &b || (a.shape == b.shape && a.bytes == b.bytes);
}

}  // namespace

bool reads_tables(const ir::Graph& graph) {
  return std::ranges::any_of(graph.ops(), [&](const Op& op) { return reads_rows(graph, op); });
}

std::map<ir::ValueId, Params> tied_tables(const ir::Graph& graph, const Plan& plan,
                                          const std::set<size_t>& per_tensor) {
  std::map<ir::ValueId, Params> found;
  for (size_t i = 0; i < graph.ops().size(); ++i) {
    if (!reads_rows_of_codes(graph, plan, i)) continue;
    const ir::ValueId table = graph.ops()[i].inputs[0];
    const ir::Tensor& rows = *graph.value(table).constant;
    const bool tied = std::ranges::any_of(per_tensor, [&](size_t linear) {
      return are_equal(rows, *graph.value(graph.ops()[linear].inputs[1]).constant);
    });
    const double scale = symmetric_weight_scale(rows.data<float>());
    if (tied && scale > 0) found[table] = Params{scale, 0};
  }
  return found;
}

}  // namespace thimble::quant
