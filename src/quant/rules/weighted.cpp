// Convolutions and linear layers with constant weights.

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

Result<ValueId> weighted_rule(RuleCall& call) {
  const ir::Op& op = call.op();
  const Params& x = call.params(0);
  const Params& y = call.result();
  const bool per_channel = !call.decisions().per_tensor.contains(call.op_index());
  auto weights = weights_of(call.from(), op, call.plan().result, call.whole_plan(),
                            call.decisions(), per_channel);
  if (!weights) return call.located(weights.error());
  const std::vector<int32_t> zeros(weights->scale.size(), 0);
  const int64_t channels = weights->w.shape[0];
  const bool scale_each = static_cast<int64_t>(weights->scale.size()) == channels && per_channel;
  const ir::Quant w_quant{weights->scale, zeros, scale_each ? 0 : -1};
  THIMBLE_TRY(const ValueId x_id, call.codes(0));
  const std::string& name = call.operand(1).name;
  const ValueId w = call.named_constant(name, std::move(weights->w), w_quant);
  ValueId bias = ir::kNoValue;
  if (call.has(2)) {
    ir::Quant bias_quant = w_quant;
    for (double& scale : bias_quant.scale) scale *= x.scale;
    bias = call.named_constant(call.operand(2).name, std::move(weights->bias), bias_quant);
  }
  const ValueId mult = call.named_constant(name + ".mult", std::move(weights->mult));
  const ValueId shift = call.named_constant(name + ".shift", std::move(weights->shift));
  Attrs attrs = op.attrs;
  attrs.set("x_zp", int64_t{x.zero_point});
  attrs.set("y_zp", int64_t{y.zero_point});
  call.set_clamp(attrs);
  return call.add(op.kind == OpKind::conv2d ? OpKind::qconv2d : OpKind::qlinear,
                  {x_id, w, bias, mult, shift}, attrs);
}

}  // namespace thimble::quant
