// SPDX-License-Identifier: Apache-2.0
// Rules for convolutions and linear layers with constant weights.

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

OpKind integer_kind(OpKind kind, bool wide) {
  if (kind == OpKind::conv2d) return wide ? OpKind::qconv2d16 : OpKind::qconv2d;
  if (kind == OpKind::linear) return wide ? OpKind::qlinear16 : OpKind::qlinear;
  return wide ? OpKind::qconv_transpose2d16 : OpKind::qconv_transpose2d;
}

/// Returns the weight dimension of the output channels; none if it holds only those of one group.
std::optional<int> channel_axis(const ir::Op& op) {
  if (op.kind != OpKind::conv_transpose2d) return 0;
  if (op.get(ir::attr::groups) == 1) return 1;
  return std::nullopt;
}

}  // namespace

Result<ValueId> weighted_rule(RuleCall& call) {
  const ir::Op& op = call.op();
  const Params x = call.params(0);
  const Params& y = call.result();
  const bool per_channel = !call.decisions().per_tensor.contains(call.op_index());
  auto weights = weights_of(call.from(), op, call.plan().result, call.whole_plan(),
                            call.decisions(), per_channel);
  if (!weights) return call.located(weights.error());
  const std::vector<int32_t> zeros(weights->scale.size(), 0);
  const bool each = weights->scale.size() != 1 && per_channel;
  std::optional<ir::Quant> w_quant;
  const std::optional<int> axis = each ? channel_axis(op) : -1;
  if (axis) w_quant = {weights->scale, zeros, *axis};
  THIMBLE_TRY(const ValueId x_id, call.codes(0));
  const std::string& name = call.operand(1).name;
  const ValueId w = call.named_constant(name, std::move(weights->w), w_quant);
  ValueId bias = ir::kNoValue;
  if (call.has(2)) {
    ir::Quant bias_quant{weights->scale, zeros, each ? 0 : -1};
    for (double& scale : bias_quant.scale) scale *= x.scale;
    bias = call.named_constant(call.operand(2).name, std::move(weights->bias), bias_quant);
  }
  const ValueId mult = call.named_constant(name + ".mult", std::move(weights->mult));
  const ValueId shift = call.named_constant(name + ".shift", std::move(weights->shift));
  Attrs attrs = op.attrs;
  if (!call.wide()) {
    attrs.set(ir::attr::x_zp, int64_t{x.zero_point});
    attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
  }
  if (weights->bits == 4) attrs.set(ir::attr::weight_bits, int64_t{4});
  if (!weights->factors.empty()) attrs.set(ir::attr::weight_group, ir::kWeightGroup);
  call.set_clamp(attrs);
  return call.add(integer_kind(op.kind, call.wide()), {x_id, w, bias, mult, shift}, attrs);
}

}  // namespace thimble::quant
