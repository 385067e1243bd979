// SPDX-License-Identifier: Apache-2.0
#include "quant/rules/rules.h"

#include <algorithm>
#include <array>

#include "numerics/fixed_point.h"
#include "numerics/int16.h"
#include "numerics/multiplier.h"

namespace thimble::quant {

using ir::ValueId;

namespace {

using Rules = std::array<Rule, static_cast<size_t>(ir::OpKind::kCount)>;

constexpr Rules make_rules() {
  using namespace trait;
  Rules rules{};
#define QUANT_RULE(operation, function, traits) \
  rules[static_cast<size_t>(ir::OpKind::operation)] = {function, traits};
#include "quant/rules/rules.def"
#undef QUANT_RULE
  return rules;
}
constexpr Rules kRules = make_rules();

}  // namespace

const Rule* rule_of(ir::OpKind kind) {
  const Rule& rule = kRules[static_cast<size_t>(kind)];
  return rule.lower == nullptr ? nullptr : &rule;
}
bool has_trait(ir::OpKind kind, uint32_t trait) {
  return (kRules[static_cast<size_t>(kind)].traits & trait) != 0;
}

RuleCall::RuleCall(Lowering* lowering, size_t op_index, ir::Graph::ResultHint hint)
    : lowering_(*lowering),
      op_index_(op_index),
      op_(lowering->from().ops()[op_index]),
      plan_(lowering->plan().ops[op_index]),
      hint_(std::move(hint)) {}

Params RuleCall::params(size_t i) const {
  const bool free = wide() || lowering_.from().type(op_.output).dtype != ir::DType::kF32;
  if (free && has_trait(op_.kind, trait::kEitherWidth)) return lowering_.params_of(op_.inputs[i]);
  return decisions().read(op_.inputs[i], wide());
}
const Params& RuleCall::result() const {
  return lowering_.params_of(plan_.result);
}

Result<ValueId> RuleCall::codes(size_t i) {
  return codes(i, params(i));
}
Result<ValueId> RuleCall::codes(size_t i, const Params& wanted) {
  return lowering_.codes(op_.inputs[i], wanted);
}
Result<std::vector<ValueId>> RuleCall::all_codes(const Params& wanted) {
  std::vector<ValueId> all;
  for (size_t i = 0; i < op_.inputs.size(); ++i) {
    all.push_back(ir::kNoValue);
    if (!has(i)) continue;
    THIMBLE_TRY(all.back(), codes(i, wanted));
  }
  return all;
}

ValueId RuleCall::constant(std::string_view role, ir::Tensor tensor,
                           std::optional<ir::Quant> quant) {
  return named_constant(fmt::format("{}.{}", hint_.name, role), std::move(tensor),
                        std::move(quant));
}
ValueId RuleCall::named_constant(std::string name, ir::Tensor tensor,
                                 std::optional<ir::Quant> quant) {
  return named_constant(std::move(name), std::make_shared<const ir::Tensor>(std::move(tensor)),
                        std::move(quant));
}
ValueId RuleCall::named_constant(std::string name, ir::TensorPtr tensor,
                                 std::optional<ir::Quant> quant) {
  return lowering_.to().add_constant(std::move(name), std::move(tensor), std::move(quant));
}

void RuleCall::set_clamp(ir::Attrs& attrs) const {
  // The quantized value for masked elements may only result from add(), which adds masks.
  const bool may_be_masked = op_.kind == ir::OpKind::add;
  const int32_t low = result().code(plan_.clamp_min);
  attrs.set(ir::attr::min, int64_t{may_be_masked ? low : std::max(low, result().lowest())});
  attrs.set(ir::attr::max, int64_t{result().code(plan_.clamp_max)});
}

Status RuleCall::set_multiplier(ir::Attrs& attrs, const ir::MultiplierKeys& keys,
                                double real) const {
  const numerics::Multiplier multiplier = numerics::quantize_multiplier(real);
  if (!numerics::shift_in_range(multiplier.shift)) {
    return located(unsupported("the multiplier {} exceeds 2^{}", real, numerics::kShiftMax));
  }
  attrs.set(keys.mult, int64_t{multiplier.mult});
  attrs.set(keys.shift, int64_t{multiplier.shift});
  return ok();
}

Status RuleCall::set_multiplier64(ir::Attrs& attrs, double real) const {
  if (numerics::quantize_multiplier(real).shift > numerics::kRequantize64ShiftMax) {
    return located(
        unsupported("the multiplier {} exceeds 2^{}", real, numerics::kRequantize64ShiftMax));
  }
  return set_multiplier(attrs, ir::attr::multiplier, real);
}

Error RuleCall::located(const Error& error) const {
  return ir::located(op_.source, op_.kind, error);
}

Result<ValueId> RuleCall::add(ir::OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs) {
  if (decisions().rounding != 0 && ir::has_attr(kind, ir::attr::rounding)) {
    attrs.set(ir::attr::rounding, decisions().rounding);
  }
  return lowering_.to().add(kind, std::move(inputs), std::move(attrs), op_.source, hint_);
}
Result<ValueId> RuleCall::add_with_all_operands(ir::OpKind kind, ir::Attrs attrs) {
  std::vector<ValueId> operands;
  for (size_t i = 0; i < op_.inputs.size(); ++i) {
    THIMBLE_TRY(const ValueId operand, codes(i));
    operands.push_back(operand);
  }
  return add(kind, std::move(operands), std::move(attrs));
}
Result<ValueId> RuleCall::add_inner(ir::OpKind kind, std::vector<ValueId> inputs, ir::Attrs attrs,
                                    std::string_view role, std::optional<ir::Quant> quant) {
  return lowering_.to().add(kind, std::move(inputs), std::move(attrs), op_.source,
                            {fmt::format("{}.{}", hint_.name, role), {}, std::move(quant)});
}

}  // namespace thimble::quant
