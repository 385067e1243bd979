// SPDX-License-Identifier: Apache-2.0
#include "import/formula.h"

#include <cmath>

#include "import/constants.h"

namespace thimble::import_pt2 {

using ir::OpKind;
using ir::ValueId;

void Formula::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Term Formula::value(Result<ValueId> id) {
  if (id) return {this, *id};
  fail(id.error());
  return {this, ir::kNoValue};
}

Term Formula::tensor(std::string_view name) {
  return value(call_.tensor(name));
}

Term Formula::operand(std::string_view name) {
  return call_.is_tensor(name) ? tensor(name) : constant(number(name));
}

double Formula::number(std::string_view name, std::optional<double> fallback) {
  const auto found = call_.number(name, fallback);
  if (found) return *found;
  fail(found.error());
  return 0;
}

Term Formula::apply(OpKind kind, std::initializer_list<Term> operands, ir::Attrs attrs) {
  if (error_) return {this, ir::kNoValue};
  std::vector<ValueId> ids;
  for (const Term& term : operands) ids.push_back(term.id);
  return value(call_.add(kind, std::move(ids), std::move(attrs)));
}

Term Formula::reshape(Term x, ir::Shape shape) {
  return apply(OpKind::reshape, {x}, {{ir::attr::shape, std::move(shape)}});
}
Term Formula::clamp(Term x, double low, double high) {
  return apply(OpKind::clamp, {x}, {{ir::attr::float_min, low}, {ir::attr::float_max, high}});
}
Term Formula::positive_part(Term x) {
  return clamp(x, 0, HUGE_VAL);
}
Term Formula::negative_part(Term x) {
  return clamp(x, -HUGE_VAL, 0);
}
Term Formula::greater(Term a, double b) {
  return apply(OpKind::compare, {a, constant(b)},
               {{ir::attr::relation, static_cast<int64_t>(Relation::kGt)}});
}

Status Formula::status() const {
  if (error_) return *error_;
  return ok();
}

Status Formula::result(Term term) {
  if (error_) return *error_;
  return call_.result(term.id);
}

Term operator+(Term a, Term b) {
  return a.formula->apply(OpKind::add, {a, b});
}
Term operator-(Term a, Term b) {
  return a.formula->apply(OpKind::sub, {a, b});
}
Term operator*(Term a, Term b) {
  return a.formula->apply(OpKind::mul, {a, b});
}
Term operator/(Term a, Term b) {
  return a.formula->apply(OpKind::div, {a, b});
}
Term operator+(Term a, double b) {
  return b == 0 ? a : a + a.formula->constant(b);
}
Term operator-(double a, Term b) {
  return b.formula->constant(a) - b;
}
Term operator*(Term a, double b) {
  return b == 1 ? a : a * a.formula->constant(b);
}

Term truncated(Formula& f, Term x) {
  const Term above = f.apply(OpKind::floor, {f.positive_part(x)});
  return above - f.apply(OpKind::floor, {f.negative_part(x) * -1.0});
}

Result<ValueId> as_bool(Call& call, std::string_view name) {
  THIMBLE_TRY(const ValueId x, call.any_tensor(name));
  const ir::DType dtype = call.builder().graph.type(x).dtype;
  if (dtype == ir::DType::kBool) return x;
  const ir::Tensor* constant = call.builder().constant_of(x);
  if (constant != nullptr) return call.converted_constant("", *constant, ir::DType::kBool);
  const ValueId zero = call.constant_value("zero", filled(dtype, {}, 0));
  return call.add(OpKind::compare, {x, zero},
                  {{ir::attr::relation, static_cast<int64_t>(Relation::kNe)}});
}

Result<ValueId> whole_as(Call& call, ValueId value, ir::DType dtype) {
  const auto is_whole = [](ir::DType type) {
    return type == ir::DType::kI32 || type == ir::DType::kI64;
  };
  const ir::DType held = call.builder().graph.type(value).dtype;
  if (held == dtype) return value;
  if (const ir::Tensor* constant = call.builder().constant_of(value)) {
    return call.converted_constant("", *constant, dtype);
  }
  if (!is_whole(dtype)) return ir::kNoValue;
  if (held == ir::DType::kBool) {
    const ValueId one = call.constant_value("one", filled(dtype, {}, 1));
    const ValueId zero = call.constant_value("zero", filled(dtype, {}, 0));
    return call.add(OpKind::where, {value, one, zero});
  }
  if (!is_whole(held)) return ir::kNoValue;
  return call.add(OpKind::int_cast, {value}, {{ir::attr::type, static_cast<int64_t>(dtype)}});
}

Result<ValueId> operand_as(Call& call, std::string_view name, ir::DType dtype) {
  if (!call.is_tensor(name)) {
    THIMBLE_TRY(const double value, call.number(name));
    ir::Tensor scalar = filled(dtype, {}, value);
    if (dtype != ir::DType::kF32 && element(scalar, 0) != value) {
      return unsupported("argument {} is {}, which {} cannot represent", name, value,
                         ir::dtype_name(dtype));
    }
    return call.constant_value("scalar", std::move(scalar));
  }
  if (dtype == ir::DType::kF32) return call.tensor(name);
  THIMBLE_TRY(const ValueId x, call.any_tensor(name));
  const ir::Type& type = call.builder().graph.type(x);
  if (type.dtype == dtype) return x;
  const ir::Tensor* constant = call.builder().constant_of(x);
  if (constant != nullptr) return call.converted_constant("", *constant, dtype);
  THIMBLE_TRY(const ValueId whole, whole_as(call, x, dtype));
  if (whole != ir::kNoValue) return whole;
  return unsupported("argument {} is {}, expected {}", name, ir::type_text(type.dtype, type.shape),
                     ir::dtype_name(dtype));
}

}  // namespace thimble::import_pt2
