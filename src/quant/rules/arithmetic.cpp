// SPDX-License-Identifier: Apache-2.0
// Rules for sums, products, quotients and means.

#include <algorithm>
#include <cassert>

#include "quant/masked.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Returns the quantized values of a pure mask with the scale of the scores. The following
/// `minimum` requires equal scales.
Result<ValueId> mask_for_minimum(RuleCall& call, size_t mask) {
  const ir::Value& value = call.operand(mask);
  if (value.constant != nullptr) {
    ir::Tensor codes = ir::zeros(ir::DType::kI8, value.type.shape);
    const auto real = value.constant->data<float>();
    for (size_t i = 0; i < real.size(); ++i) {
      codes.data<int8_t>()[i] = static_cast<int8_t>(kPureMask.code(static_cast<double>(real[i])));
    }
    return call.named_constant(value.name, std::move(codes), call.result().quant());
  }
  ir::Tensor same = ir::zeros(ir::DType::kI8, {256});
  for (int code = -128; code < 128; ++code) {
    same.data<int8_t>()[static_cast<size_t>(code + 128)] = static_cast<int8_t>(code);
  }
  const ValueId table = call.constant("mask_table", std::move(same));
  THIMBLE_TRY(const ValueId codes, call.codes(mask));
  return call.add_inner(OpKind::lut, {codes, table}, {}, "mask", call.result().quant());
}

/// Returns the zero points of operands and result; empty for 16-bit activations.
Attrs zero_points(const RuleCall& call, ir::AttrKey<int64_t> first, ir::AttrKey<int64_t> second) {
  if (call.wide()) return {};
  return {{first, int64_t{call.params(0).zero_point}},
          {second, int64_t{call.params(1).zero_point}},
          {ir::attr::y_zp, int64_t{call.result().zero_point}}};
}

/// Adds a binary operator whose result has one multiplier, `real`.
Result<ValueId> add_scaled(RuleCall& call, OpKind kind, double real) {
  Attrs attrs = zero_points(call, ir::attr::a_zp, ir::attr::b_zp);
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, real));
  call.set_clamp(attrs);
  return call.add_with_all_operands(kind, attrs);
}

}  // namespace

Result<ValueId> sum_rule(RuleCall& call) {
  if (call.op().kind == OpKind::add) {
    for (const size_t mask : {size_t{0}, size_t{1}}) {
      if (call.params(mask) != kPureMask || call.params(1 - mask) != call.result()) continue;
      THIMBLE_TRY(const ValueId scores, call.codes(1 - mask));
      THIMBLE_TRY(const ValueId hiding, mask_for_minimum(call, mask));
      return call.add(OpKind::minimum, {scores, hiding}, {});
    }
  }
  const Params a = call.params(0);
  const Params b = call.params(1);
  const Params& y = call.result();
  const double joint = 2 * std::max(a.scale, b.scale);
  const double spare = call.wide() ? 0x1p15 : 0x1p20;
  Attrs attrs = zero_points(call, ir::attr::a_zp, ir::attr::b_zp);
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::a_multiplier, a.scale / joint));
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::b_multiplier, b.scale / joint));
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::y_multiplier, joint / (spare * y.scale)));
  call.set_clamp(attrs);
  const bool adds = call.op().kind == OpKind::add;
  const OpKind narrow = adds ? OpKind::qadd : OpKind::qsub;
  const OpKind wide = adds ? OpKind::qadd16 : OpKind::qsub16;
  return call.add_with_all_operands(call.wide() ? wide : narrow, attrs);
}

Result<ValueId> product_rule(RuleCall& call) {
  const double scales = call.params(0).scale * call.params(1).scale / call.result().scale;
  return add_scaled(call, call.wide() ? OpKind::qmul16 : OpKind::qmul, scales);
}

Result<ValueId> div_rule(RuleCall& call) {
  const double divisor = 0x1p20 * call.params(1).scale * call.result().scale;
  return add_scaled(call, OpKind::qdiv, call.params(0).scale / divisor);
}

Result<ValueId> prelu_rule(RuleCall& call) {
  const Params x = call.params(0);
  const Params w = call.params(1);
  const Params& y = call.result();
  Attrs attrs = zero_points(call, ir::attr::x_zp, ir::attr::w_zp);
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, x.scale / y.scale));
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::w_multiplier, x.scale * w.scale / y.scale));
  call.set_clamp(attrs);
  return call.add_with_all_operands(call.wide() ? OpKind::qprelu16 : OpKind::qprelu, attrs);
}

Result<ValueId> mean_rule(RuleCall& call) {
  const double count = static_cast<double>(call.type(0).elements()) /
                       static_cast<double>(call.result_type().elements());
  return reduced(call, 1 / count);
}

Result<ValueId> table_rule(RuleCall& call) {
  assert(false && "the plan made it part of a table");
  return call.located(unsupported("has no integer form of its own"));
}

}  // namespace thimble::quant
