// SPDX-License-Identifier: Apache-2.0
#include "quant/norm.h"

#include <algorithm>
#include <cmath>

namespace thimble::quant {
namespace {

using ir::OpKind;

constexpr double kWeightMax = 32767;
constexpr double kBiasMax = 0x1p30;

double largest(const ir::Graph& graph, const ir::Op& op, size_t operand) {
  double result = 0;
  if (operand >= op.inputs.size() || op.inputs[operand] == ir::kNoValue) return result;
  for (const float value : graph.value(op.inputs[operand]).constant->data<float>()) {
    result = std::max(result, std::abs(double{value}));
  }
  return result;
}

}  // namespace

bool is_norm(OpKind kind) {
  return kind == OpKind::layer_norm || kind == OpKind::group_norm || kind == OpKind::rms_norm;
}

int64_t norm_row(const ir::Graph& graph, const ir::Op& op) {
  const ir::Shape& shape = graph.type(op.inputs[0]).shape;
  if (op.kind == OpKind::group_norm) {
    return ir::element_count(shape) / (shape[0] * op.get(ir::attr::groups));
  }
  return ir::element_count(ir::Shape(shape.end() - op.get(ir::attr::last_dims), shape.end()));
}

double norm_weight_scale(const ir::Graph& graph, const ir::Op& op) {
  const double bias = largest(graph, op, 2);
  const bool has_weight = op.inputs[1] != ir::kNoValue;
  if (!has_weight && bias <= kBiasMax * kUnit) return 0;
  const double weight = has_weight ? largest(graph, op, 1) : 1;
  const double scale = std::max(weight / kWeightMax, 2 * bias / kBiasMax);
  return scale > 0 ? scale : 1;
}

double norm_x_scale_min(const ir::Graph& graph, const ir::Op& op) {
  // Keeps eps * n^2 / scale^2 at most 2^60.
  return std::sqrt(op.get(ir::attr::eps)) * static_cast<double>(norm_row(graph, op)) * 0x1p-30;
}

double norm_y_scale_min(const ir::Graph& graph, const ir::Op& op) {
  // Keeps the last multiplier at most 1/2.
  const double scale = norm_weight_scale(graph, op);
  return scale > 0 ? scale : 2 * kUnit;
}

}  // namespace thimble::quant
