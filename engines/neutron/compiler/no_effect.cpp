// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/no_effect.h"

#include <algorithm>

#include "ir/op_traits.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;

namespace {

bool all_are(const std::vector<int64_t>& values, int64_t wanted) {
  return std::ranges::all_of(values, [=](int64_t value) { return value == wanted; });
}

/// Returns true if only dimensions of size 1 change their position.
bool keeps_order(const ir::Graph& graph, const Op& permute) {
  const ir::Shape& shape = graph.type(permute.inputs[0]).shape;
  int64_t last = -1;
  for (const int64_t dim : permute.get(ir::attr::dims)) {
    if (shape[static_cast<size_t>(dim)] == 1) continue;
    if (dim < last) return false;
    last = dim;
  }
  return true;
}

bool is_identity(const ir::Graph& graph, const Op& lut) {
  const ir::TensorPtr& table = graph.value(lut.inputs[1]).constant;
  if (table == nullptr || graph.type(lut.inputs[0]).quant != graph.type(lut.output).quant) {
    return false;
  }
  const auto entries = table->data<int8_t>();
  for (int code = -128; code < 128; ++code) {
    if (entries[static_cast<size_t>(code + 128)] != code) return false;
  }
  return true;
}

bool same_codes(const Op& op) {
  constexpr int64_t kOne = int64_t{1} << 30;  // 2^30 * 2^(1 - 31)
  return op.get(ir::attr::x_zp) == op.get(ir::attr::y_zp) && op.get(ir::attr::mult) == kOne &&
         op.get(ir::attr::shift) == 1;
}

bool has_bounds(const Op& op) {
  return op.get(ir::attr::min) > -128 || op.get(ir::attr::max) < 127;
}

/// Returns true if the result has the operand's quantized values in the same order: a clamp without
/// effect, a mean over one element, an upsampling by 1.
bool has_no_effect(const ir::Graph& graph, const Op& op) {
  const bool same_size = !op.inputs.empty() && op.inputs[0] != ir::kNoValue &&
                         graph.type(op.inputs[0]).elements() == graph.type(op.output).elements();
  if (!same_size) return false;
  switch (op.kind) {
    case OpKind::concat:
    case OpKind::copy:
    case OpKind::expand:
    case OpKind::pad:
    case OpKind::reshape:
    case OpKind::adaptive_max_pool2d:
    case OpKind::amax:
    case OpKind::amin:
      return true;
    case OpKind::slice:
      return op.get(ir::attr::step) == 1;
    case OpKind::permute:
      return keeps_order(graph, op);
    case OpKind::max_pool2d:
      return all_are(op.get(ir::attr::kernel), 1);
    case OpKind::qavg_pool2d:
      return all_are(op.get(ir::attr::kernel), 1) && !has_bounds(op);
    case OpKind::qadaptive_avg_pool2d:
      return !has_bounds(op);
    case OpKind::qmean:
      return same_codes(op) && !has_bounds(op);
    case OpKind::rescale:
      return same_codes(op) && graph.type(op.inputs[0]).dtype == graph.type(op.output).dtype;
    case OpKind::lut:
      return is_identity(graph, op);
    case OpKind::qresize_bilinear:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string no_effect_reason(const ir::Graph& subgraph) {
  const Op* idle = nullptr;  // the last compute operator; all have no effect
  for (const Op& op : subgraph.ops()) {
    if (ir::only_moves(op.kind)) continue;
    if (!has_no_effect(subgraph, op)) return "";
    idle = &op;
  }
  if (idle == nullptr) return "the subgraph only moves data: it stays on the CPU";
  return fmt::format(
      "the subgraph has no effect ({} does not change its operand), and NXP's converter removes "
      "such "
      "operators",
      ir::op_name(idle->kind));
}

}  // namespace thimble::engine::neutron
