// SPDX-License-Identifier: Apache-2.0
// Rules for comparisons of quantized values. Selection operators are in movement.cpp.

#include <algorithm>
#include <cmath>

#include "ir/relation.h"
#include "quant/rules/rules.h"

namespace thimble::quant {

using ir::OpKind;
using ir::Relation;
using ir::ValueId;

namespace {

/// Returns the relation R' with b R' a if and only if a R b.
Relation mirrored(Relation relation) {
  switch (relation) {
    case Relation::kLt:
      return Relation::kGt;
    case Relation::kLe:
      return Relation::kGe;
    case Relation::kGt:
      return Relation::kLt;
    case Relation::kGe:
      return Relation::kLe;
    default:
      return relation;
  }
}

struct Threshold {
  Relation relation;
  int8_t code;
};

/// Returns R' and t such that `code R' t` is true exactly for the quantized values whose number x
/// satisfies `x R limit`. For = and !=, t is the quantized value nearest to the limit.
Threshold threshold_of(const Params& x, Relation relation, double limit) {
  const double position = limit / x.scale + x.zero_point;
  const bool above = relation == Relation::kGt || relation == Relation::kGe;
  if (relation == Relation::kEq || relation == Relation::kNe) {
    return {relation, static_cast<int8_t>(x.code(limit))};
  }
  // x > limit and x <= limit split above floor(position); the other relations below ceil(position).
  const bool parts_above = relation == Relation::kGt || relation == Relation::kLe;
  const double lowest_above = parts_above ? std::floor(position) + 1 : std::ceil(position);
  if (lowest_above > 127) return {above ? Relation::kGt : Relation::kLe, 127};
  const double code = std::max(lowest_above, -128.0);
  return {above ? Relation::kGe : Relation::kLt, static_cast<int8_t>(code)};
}

/// Returns parameters that include the ranges of a and b: a or b if sufficient.
Params joint_params(const Params& a, const Params& b) {
  const auto holds = [](const Params& outer, const Params& inner) {
    return outer.real(-128) <= inner.real(-128) && outer.real(127) >= inner.real(127);
  };
  if (holds(a, b)) return a;
  if (holds(b, a)) return b;
  return params_for({std::min(a.real(-128), b.real(-128)), std::max(a.real(127), b.real(127))});
}

bool is_number(const ir::Value& value) {
  return value.constant != nullptr && value.type.dtype == ir::DType::kF32 &&
         value.type.elements() == 1;
}

/// Compares operand x with the other operand, which is one number.
Result<ValueId> against_number(RuleCall& call, size_t x, Relation relation) {
  const ir::Value& number = call.operand(1 - x);
  const double limit = static_cast<double>(number.constant->data<float>()[0]);
  const Threshold threshold = threshold_of(call.params(x), relation, limit);
  ir::Tensor code = ir::zeros(ir::DType::kI8, number.type.shape);
  code.data<int8_t>()[0] = threshold.code;
  THIMBLE_TRY(const ValueId codes, call.codes(x));
  const ValueId other = call.named_constant(number.name, std::move(code), call.params(x).quant());
  return call.add(OpKind::compare, {codes, other},
                  {{ir::attr::relation, static_cast<int64_t>(threshold.relation)}});
}

}  // namespace

Result<ValueId> compare_rule(RuleCall& call) {
  const auto relation = static_cast<Relation>(call.op().get(ir::attr::relation));
  if (call.type(0).dtype != ir::DType::kF32) return movement_rule(call);
  if (is_number(call.operand(1))) return against_number(call, 0, relation);
  if (is_number(call.operand(0))) return against_number(call, 1, mirrored(relation));
  THIMBLE_TRY(std::vector<ValueId> operands,
              call.all_codes(joint_params(call.params(0), call.params(1))));
  return call.add(OpKind::compare, std::move(operands), call.op().attrs);
}

}  // namespace thimble::quant
