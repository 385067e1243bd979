// SPDX-License-Identifier: Apache-2.0
// Rules for integers without scale: positions, masks, lengths. Only their conversion to float gets
// quantization parameters.

#include <algorithm>
#include <cmath>

#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::OpKind;
using ir::ValueId;

Result<ValueId> integer_rule(RuleCall& call) {
  return call.add_with_all_operands(call.op().kind, call.op().attrs);
}

/// Values outside of the range that the result represents are limited to integers just outside of
/// it, so that the scaled value fits 32 bits.
Result<ValueId> int_to_float_rule(RuleCall& call) {
  const Params& y = call.result();
  const int64_t code_min = call.wide() ? INT16_MIN : INT8_MIN;
  const int64_t code_max = call.wide() ? INT16_MAX : INT8_MAX;
  const auto limit = [](double value) {
    return static_cast<int64_t>(std::clamp(value, -2147483647.0, 2147483647.0));
  };
  ir::Attrs attrs;
  attrs.set(ir::attr::min, limit(std::floor(y.scale * double(code_min - y.zero_point)) - 1));
  attrs.set(ir::attr::max, limit(std::ceil(y.scale * double(code_max - y.zero_point)) + 1));
  attrs.set(ir::attr::y_zp, int64_t{y.zero_point});
  attrs.set(ir::attr::wide, int64_t{call.wide()});
  THIMBLE_CHECK(call.set_multiplier(attrs, ir::attr::multiplier, 1 / y.scale));
  return call.add_with_all_operands(OpKind::int_quantize, attrs);
}

}  // namespace thimble::quant
