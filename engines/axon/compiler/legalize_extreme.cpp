// SPDX-License-Identifier: Apache-2.0
// Negation, maximum and minimum as products and sums.

#include <cassert>

#include "engines/axon/compiler/legalizer.h"
#include "engines/axon/compiler/scale.h"

namespace thimble::engine::axon {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

/// Returns -x with the zero point -1 - zero, which represents every int8 value exactly.
Result<ValueId> Legalizer::negated(ValueId x, int64_t zero, const Op& op) {
  const ir::Value& value = from_.value(x);
  const std::optional<ir::Quant>& quant = value.type.quant;
  if (!quant || quant->axis >= 0 || quant->zero_point[0] != zero) {
    return unsupported("its operand has no per-tensor scale, or another zero point");
  }
  const ir::Quant result = ir::per_tensor(quant->scale[0], static_cast<int32_t>(-1 - zero));
  const std::string name = hint_of(op.output).name + "_negated";
  if (value.constant) {
    ir::Tensor tensor = *value.constant;
    for (int8_t& code : tensor.data<int8_t>()) code = static_cast<int8_t>(-1 - code);
    return constant(name, std::move(tensor), result);
  }
  return minus(rewriter_.map(x), result, op, name);
}

/// Returns -x with the scale of x and the zero point of `result`.
Result<ValueId> Legalizer::minus(ValueId x, const ir::Quant& result, const Op& op,
                                 const std::string& name) {
  Requantization ask;
  ask.zero_point = result.zero_point[0];
  return times(x, -1, ask, op, {name, {}, result});
}

/// Returns a + b of two values of one scale, saturated to int8.
Result<ValueId> Legalizer::plain_sum(ValueId a, ValueId b, const Op& op,
                                     const ir::Graph::ResultHint& hint) {
  Requantization ask;
  ask.zero_point = hint.quant->zero_point[0];
  const auto scale = sum_scale_for(1, 1, ask.zero_point);
  assert(scale && "multipliers of 1 fit next to every zero point");
  const auto zero = [&](ValueId id) {
    return int64_t{rewriter_.to().type(id).quant->zero_point[0]};
  };
  ir::Attrs attrs = {{ir::attr::a_zp, zero(a)},
                     {ir::attr::b_zp, zero(b)},
                     {ir::attr::a_mult, int64_t{scale->a}},
                     {ir::attr::a_shift, int64_t{0}},
                     {ir::attr::b_mult, int64_t{scale->b}},
                     {ir::attr::b_shift, int64_t{0}},
                     {ir::attr::y_mult, int64_t{1}},
                     {ir::attr::y_shift, int64_t{scale->shift}}};
  set_requantization_attrs(ask, &attrs);
  return rewriter_.to().add(OpKind::qadd, {a, b}, std::move(attrs), op.source, hint);
}

/// max(a, b) = b + relu(a - b) and min(a, b) = a - relu(a - b). The difference is an int8 with the
/// zero point -128, whose saturation is the relu. Every step is exact.
Status Legalizer::extreme(const Op& op) {
  const std::optional<ir::Quant>& quant = from_.type(op.output).quant;
  for (const ValueId input : op.inputs) {
    const ir::Value& value = from_.value(input);
    if (value.type.dtype != ir::DType::kI8 || !quant || quant->axis >= 0 ||
        value.type.quant != quant) {
      return unsupported("its operands and result are not int8 with one scale and zero point");
    }
  }
  const ir::Shape& shape = from_.type(op.output).shape;
  const bool first = from_.type(op.inputs[0]).shape == shape && !from_.value(op.inputs[0]).constant;
  if (!first && (from_.type(op.inputs[1]).shape != shape || from_.value(op.inputs[1]).constant)) {
    return unsupported("both operands are constant or repeated");
  }
  const ValueId a = op.inputs[first ? 0 : 1], b = op.inputs[first ? 1 : 0];
  const double scale = quant->scale[0];
  const int64_t zero = quant->zero_point[0];
  const bool larger = op.kind == OpKind::maximum;
  const ir::Graph::ResultHint hint = hint_of(op.output);
  // relu(b - a) or relu(a - b), of a's shape: max = a + relu(b - a), min = a - relu(a - b).
  ValueId less = ir::kNoValue, more = ir::kNoValue;
  if (larger) {
    THIMBLE_TRY(less, negated(a, zero, op));
    more = rewriter_.map(b);
  } else {
    THIMBLE_TRY(less, negated(b, zero, op));
    more = rewriter_.map(a);
  }
  THIMBLE_TRY(ValueId excess,
              plain_sum(more, less, op, {hint.name + "_excess", {}, ir::per_tensor(scale, -128)}));
  if (!larger) {
    THIMBLE_TRY(excess, minus(excess, ir::per_tensor(scale, 127), op, hint.name + "_minus"));
  }
  THIMBLE_TRY(const ValueId made, plain_sum(rewriter_.map(a), excess, op, hint));
  rewriter_.set(op.output, made);
  return ok();
}

}  // namespace thimble::engine::axon
