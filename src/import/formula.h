// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic in a handler, written as a formula:
//
//   Formula f(call);
//   const Term x = f.tensor("self");
//   return f.result(x * f.apply(OpKind::sigmoid, {x}));
//
// Every operation adds an operator. After an error, further operations do nothing, and result()
// returns the first error.

#include <initializer_list>
#include <optional>
#include <string_view>

#include "import/call.h"
#include "ir/relation.h"

namespace thimble::import_pt2 {

class Formula;

struct Term {
  Formula* formula = nullptr;
  ir::ValueId id = ir::kNoValue;  // kNoValue after an error
};

class Formula {
 public:
  explicit Formula(Call& call) : call_(call) {}
  Formula(const Formula&) = delete;
  Formula& operator=(const Formula&) = delete;

  /// Returns an argument. tensor() requires a float tensor; operand() also accepts a number.
  Term tensor(std::string_view name);
  Term operand(std::string_view name);
  double number(std::string_view name, std::optional<double> fallback = {});
  Term value(Result<ir::ValueId> id);
  Term constant(double value) { return {this, call_.scalar(value)}; }

  Term apply(ir::OpKind kind, std::initializer_list<Term> operands, ir::Attrs attrs = {});
  Term reshape(Term x, ir::Shape shape);
  Term clamp(Term x, double low, double high);
  Term positive_part(Term x);
  Term negative_part(Term x);  // min(x, 0)
  /// Returns a > b as bool.
  Term greater(Term a, double b);
  Term where(Term condition, Term a, Term b) { return apply(ir::OpKind::where, {condition, a, b}); }

  void fail(Error error);
  [[nodiscard]] Status status() const;
  Status result(Term term);

 private:
  Call& call_;
  std::optional<Error> error_;
};

Term operator+(Term a, Term b);
Term operator-(Term a, Term b);
Term operator*(Term a, Term b);
Term operator/(Term a, Term b);
Term operator+(Term a, double b);
Term operator-(double a, Term b);
Term operator*(Term a, double b);

/// Rounds towards zero.
Term truncated(Formula& f, Term x);

using ir::Relation;

/// Returns a tensor argument as bool: unchanged, or x != 0.
Result<ir::ValueId> as_bool(Call& call, std::string_view name);
/// Returns a bool or integer value as int32 or int64. Booleans become 1 and 0. kNoValue for other
/// types, which have no integers at run time.
Result<ir::ValueId> whole_as(Call& call, ir::ValueId value, ir::DType dtype);
/// Returns a tensor or number argument in this element type.
Result<ir::ValueId> operand_as(Call& call, std::string_view name, ir::DType dtype);

}  // namespace thimble::import_pt2
