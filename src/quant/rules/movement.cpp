// SPDX-License-Identifier: Apache-2.0
// Rules for operators that move or select quantized values. Operands get the result's parameters;
// usually they already have them, except small operands of concat.

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

Result<ValueId> movement_rule(RuleCall& call) {
  THIMBLE_TRY(std::vector<ValueId> operands, call.all_codes(call.result()));
  const bool wide_pool = call.wide() && call.op().kind == OpKind::max_pool2d;
  return call.add(wide_pool ? OpKind::max_pool2d16 : call.op().kind, std::move(operands),
                  call.op().attrs);
}

Result<ValueId> pad_rule(RuleCall& call) {
  Attrs attrs = call.op().attrs;
  attrs.set(ir::attr::value,
            static_cast<double>(call.result().code(call.op().get(ir::attr::value))));
  THIMBLE_TRY(const ValueId x, call.codes(0, call.result()));
  return call.add(OpKind::pad, {x}, attrs);
}

Result<ValueId> avg_pool2d_rule(RuleCall& call) {
  Attrs attrs = call.op().attrs;
  call.set_clamp(attrs);
  THIMBLE_TRY(const ValueId x, call.codes(0, call.result()));
  return call.add(call.wide() ? OpKind::qavg_pool2d16 : OpKind::qavg_pool2d, {x}, attrs);
}

}  // namespace thimble::quant
