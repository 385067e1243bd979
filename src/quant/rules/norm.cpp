// SPDX-License-Identifier: Apache-2.0
// Rules for layer, group and rms norm: docs/numerics.md, "Norms".

#include "quant/norm.h"

#include <algorithm>
#include <cmath>

#include "numerics/multiplier.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Sets the attributes `eps` and `eps_shift`: eps in the unit of the exact sums.
void set_eps(RuleCall& call, Attrs& attrs) {
  const double n = static_cast<double>(norm_row(call.from(), call.op()));
  const double scale = call.params(0).scale;
  double eps = call.op().get(ir::attr::eps) * (n / scale) * (n / scale);
  int64_t shift = 0;
  for (; std::nearbyint(eps) >= 0x1p31; eps /= 2) ++shift;
  attrs.set(ir::attr::int_eps, static_cast<int64_t>(std::nearbyint(eps)));
  attrs.set(ir::attr::eps_shift, shift);
}

/// Returns w in 16 bits. If the operator has no w but b needs its scale, w is all ones.
ValueId weight_codes(RuleCall& call, double scale) {
  if (scale == 0) return ir::kNoValue;
  const bool given = call.has(1);
  const ir::Type& type = call.type(given ? 1 : 2);
  ir::Tensor codes = ir::zeros(ir::DType::kI16, type.shape);
  const auto to = codes.data<int16_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    const double real = given ? double{call.operand(1).constant->data<float>()[i]} : 1.0;
    to[i] = static_cast<int16_t>(std::nearbyint(real / scale));
  }
  const ir::Quant quant = ir::per_tensor(scale, 0);
  if (given) return call.named_constant(call.operand(1).name, std::move(codes), quant);
  return call.constant("w", std::move(codes), quant);
}

ValueId bias_codes(RuleCall& call, double scale) {
  if (!call.has(2)) return ir::kNoValue;
  ir::Tensor codes = ir::zeros(ir::DType::kI32, call.type(2).shape);
  const auto to = codes.data<int32_t>();
  const auto from = call.operand(2).constant->data<float>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = static_cast<int32_t>(std::nearbyint(double{from[i]} / scale));
  }
  return call.named_constant(call.operand(2).name, std::move(codes), ir::per_tensor(scale, 0));
}

OpKind integer_form(OpKind kind, bool wide) {
  if (kind == OpKind::layer_norm) return wide ? OpKind::qlayer_norm16 : OpKind::qlayer_norm;
  if (kind == OpKind::group_norm) return wide ? OpKind::qgroup_norm16 : OpKind::qgroup_norm;
  return wide ? OpKind::qrms_norm16 : OpKind::qrms_norm;
}

}  // namespace

Result<ValueId> norm_rule(RuleCall& call) {
  const ir::Op& op = call.op();
  const double w_scale = norm_weight_scale(call.from(), op);
  const double unit = w_scale > 0 ? w_scale / 2 : kUnit;
  const auto rows = op.kind == OpKind::group_norm ? ir::attr::groups : ir::attr::last_dims;
  Attrs attrs{{rows, op.get(rows)}};
  set_eps(call, attrs);
  if (!call.wide()) {
    if (op.kind == OpKind::rms_norm) attrs.set(ir::attr::x_zp, int64_t{call.params(0).zero_point});
    attrs.set(ir::attr::y_zp, int64_t{call.result().zero_point});
  }
  const double real = unit / call.result().scale;
  if (real >= 1) {
    return call.located(
        unsupported("the scale of its result, {}, is too fine for its integer arithmetic",
                    call.result().scale));
  }
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, real));
  call.set_clamp(attrs);
  THIMBLE_TRY(const ValueId x, call.codes(0));
  std::vector<ValueId> operands = {x, weight_codes(call, w_scale)};
  if (op.kind != OpKind::rms_norm) operands.push_back(bias_codes(call, unit));
  return call.add(integer_form(op.kind, call.wide()), std::move(operands), attrs);
}

}  // namespace thimble::quant
