// SPDX-License-Identifier: Apache-2.0
// Rules for products of two activations, and for gather.

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

/// Returns the parameters with which the operator reads an operand.
Params operand_of(const RuleCall& call, size_t i) {
  const auto found = call.decisions().symmetric.find(call.op().inputs[i]);
  const bool other =
      call.plan().symmetric && !call.wide() && found != call.decisions().symmetric.end();
  return other ? found->second : call.params(i);
}

}  // namespace

Result<ValueId> matmul_rule(RuleCall& call) {
  const Params a = operand_of(call, 0);
  const Params b = operand_of(call, 1);
  const Params& y = call.result();
  const double scale = call.op().get(ir::attr::scale);
  if (!(scale >= 0)) {
    return call.located(unsupported("scale is {}, expected 0 or more", scale));
  }
  const double real = a.scale * b.scale * scale / y.scale;
  Attrs attrs{{ir::attr::transpose_b, call.op().get(ir::attr::transpose_b)}};
  if (call.wide()) {
    THIMBLE_CHECK(call.set_multiplier64(attrs, real));
  } else {
    attrs.set(ir::attr::a_zp, int64_t{a.zero_point});
    attrs.set(ir::attr::b_zp, int64_t{b.zero_point});
    attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
    THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, real));
  }
  call.set_clamp(attrs);
  THIMBLE_TRY(const ValueId a_id, call.codes(0, a));
  THIMBLE_TRY(const ValueId b_id, call.codes(1, b));
  return call.add(call.wide() ? OpKind::qmatmul16 : OpKind::qmatmul, {a_id, b_id}, attrs);
}

Result<ValueId> gather_rule(RuleCall& call) {
  THIMBLE_TRY(const ValueId x, call.codes(0, call.result()));
  THIMBLE_TRY(const ValueId index, call.codes(1));
  return call.add(call.op().kind, {x, index}, call.op().attrs);
}

}  // namespace thimble::quant
