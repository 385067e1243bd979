// SPDX-License-Identifier: Apache-2.0
// Rules for reductions over dimensions and for cumulative sums. amax and amin only move quantized
// values.

#include <algorithm>
#include <cmath>

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::Attrs;
using ir::OpKind;
using ir::ValueId;

namespace {

Result<ValueId> scaled_sum(RuleCall& call, OpKind kind, double factor) {
  const Params x = call.params(0);
  const Params& y = call.result();
  const double real = x.scale * factor / y.scale;
  Attrs attrs = call.op().attrs;
  if (call.wide()) {
    THIMBLE_CHECK(call.set_multiplier64(attrs, real));
  } else {
    attrs.set(ir::attr::x_zp, int64_t{x.zero_point});
    attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
    THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, real));
  }
  call.set_clamp(attrs);
  return call.add_with_all_operands(kind, attrs);
}

}  // namespace

Result<ValueId> reduced(RuleCall& call, double factor) {
  return scaled_sum(call, call.wide() ? OpKind::qmean16 : OpKind::qmean, factor);
}
Result<ValueId> reduce_sum_rule(RuleCall& call) {
  return reduced(call, 1);
}
Result<ValueId> cumsum_rule(RuleCall& call) {
  return scaled_sum(call, OpKind::qcumsum, 1);
}

/// Quantization does not change the position of the maximum.
Result<ValueId> argmax_rule(RuleCall& call) {
  return call.add_with_all_operands(OpKind::argmax, call.op().attrs);
}

Result<ValueId> variance_rule(RuleCall& call) {
  const Params& x = call.params(0);
  const Params& y = call.result();
  const double count = static_cast<double>(call.type(0).elements()) /
                       static_cast<double>(call.result_type().elements());
  const double bits = std::ceil(std::log2(count));
  const double p = std::max(0.0, 2 * bits - 16);
  const double divisor = count * (count - call.op().get(ir::attr::correction)) * y.scale;
  Attrs attrs{{ir::attr::dims, call.op().get(ir::attr::dims)},
              {ir::attr::keepdim, call.op().get(ir::attr::keepdim)}};
  attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
  THIMBLE_CHECK(
      call.set_multiplier(attrs, ir::attr::multiplier, x.scale * x.scale * std::exp2(p) / divisor));
  call.set_clamp(attrs);
  return call.add_with_all_operands(OpKind::qvariance, attrs);
}

}  // namespace thimble::quant
