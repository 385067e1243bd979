// Elementwise functions.

#include <cmath>
#include <limits>

#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// Adds log(self) / log_of_base.
Status logarithm(Call& call, double log_of_base) {
  Formula f(call);
  return f.result(f.apply(OpKind::log, {f.tensor("self")}) * (1 / log_of_base));
}

Term power(Formula& f, Term x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 0.5) return f.apply(OpKind::sqrt, {x});
  if (exponent == -0.5) return f.apply(OpKind::rsqrt, {x});
  if (exponent == -1) return f.constant(1) / x;
  return f.apply(OpKind::pow, {x}, {{ir::attr::exponent, exponent}});
}

/// (e^x + sign * e^-x) / 2.
Status hyperbolic(Call& call, double sign) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term mirrored = f.apply(OpKind::exp, {x * -1.0}) * sign;
  return f.result((f.apply(OpKind::exp, {x}) + mirrored) * 0.5);
}

}  // namespace

namespace handlers {

#define THIMBLE_FUNCTION(name, exact, stable)                   \
  Status name(Call& call) {                                     \
    Formula f(call);                                            \
    return f.result(f.apply(OpKind::name, {f.tensor("self")})); \
  }
#include "ir/functions.def"
#undef THIMBLE_FUNCTION

Status ceil(Call& call) {
  Formula f(call);
  return f.result(f.apply(OpKind::floor, {f.tensor("self") * -1.0}) * -1.0);
}
Status trunc(Call& call) {
  Formula f(call);
  return f.result(truncated(f, f.tensor("self")));
}

/// The remainder of a division by a number. remainder() has the sign of the divisor, fmod() that of
/// x.
Status remainder(Call& call) {
  Formula f(call);
  const double divisor = f.number("other");
  const Term x = f.tensor("self");
  return f.result(x - f.apply(OpKind::floor, {x / f.constant(divisor)}) * divisor);
}
Status fmod(Call& call) {
  Formula f(call);
  const double divisor = f.number("other");
  const Term x = f.tensor("self");
  return f.result(x - truncated(f, x / f.constant(divisor)) * divisor);
}
Status frac(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x - truncated(f, x));
}

/// Only NaN is unequal to itself.
Status isnan(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(f.apply(OpKind::compare, {x, x},
                          {{ir::attr::relation, static_cast<int64_t>(Relation::kNe)}}));
}

/// Infinities are replaced by the largest finite numbers unless other numbers are given.
Status nan_to_num(Call& call) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Formula f(call);
  const double high = f.number("posinf", kLargest);
  const double low = f.number("neginf", -kLargest);
  const double otherwise = f.number("nan", 0);
  const Term x = f.tensor("self");
  const Term is_nan =
      f.apply(OpKind::compare, {x, x}, {{ir::attr::relation, static_cast<int64_t>(Relation::kNe)}});
  const Term number = f.where(is_nan, f.constant(otherwise), x);
  const Term above = f.where(f.greater(number, kLargest), f.constant(high), number);
  return f.result(f.where(f.greater(above * -1.0, kLargest), f.constant(low), above));
}

Status hypot(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term y = f.tensor("other");
  return f.result(f.apply(OpKind::sqrt, {x * x + y * y}));
}

/// The maximum + log(1 + e^-|difference|), which cannot overflow.
Status logaddexp(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term y = f.tensor("other");
  const Term distance = f.apply(OpKind::abs, {x - y});
  const Term rest = f.apply(OpKind::log, {f.apply(OpKind::exp, {distance * -1.0}) + 1.0});
  return f.result(f.apply(OpKind::maximum, {x, y}) + rest);
}

Status logit(Call& call) {
  Formula f(call);
  Term x = f.tensor("self");
  if (call.has("eps")) {
    const double eps = f.number("eps");
    x = f.clamp(x, eps, 1 - eps);
  }
  return f.result(f.apply(OpKind::log, {x / (1.0 - x)}));
}

Status acosh(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(f.apply(OpKind::log, {x + f.apply(OpKind::sqrt, {x * x + -1.0})}));
}
Status atanh(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(f.apply(OpKind::log, {(x + 1.0) / (1.0 - x)}) * 0.5);
}
Status cosh(Call& call) {
  return hyperbolic(call, 1);
}
Status sinh(Call& call) {
  return hyperbolic(call, -1);
}
Status tan(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(f.apply(OpKind::sin, {x}) / f.apply(OpKind::cos, {x}));
}

Status exp2(Call& call) {
  Formula f(call);
  return f.result(f.apply(OpKind::exp, {f.tensor("self") * std::log(2.0)}));
}
Status expm1(Call& call) {
  Formula f(call);
  return f.result(f.apply(OpKind::exp, {f.tensor("self")}) + -1.0);
}
Status log10(Call& call) {
  return logarithm(call, std::log(10.0));
}
Status log1p(Call& call) {
  Formula f(call);
  return f.result(f.apply(OpKind::log, {f.tensor("self") + 1.0}));
}
Status log2(Call& call) {
  return logarithm(call, std::log(2.0));
}

Status pow(Call& call) {
  if (!call.is_tensor("exponent")) {
    Formula f(call);
    const double exponent = f.number("exponent");
    return f.result(power(f, f.tensor("self"), exponent));
  }
  if (call.is_tensor("self")) {
    THIMBLE_TRY(const ir::Tensor* exponent, call.constant("exponent"));
    if (exponent->data<float>().size() != 1) {
      return unsupported("the exponent is a tensor, expected one number");
    }
    Formula f(call);
    const double value = static_cast<double>(exponent->data<float>()[0]);
    return f.result(power(f, f.tensor("self"), value));
  }
  THIMBLE_TRY(const double base, call.number("self"));
  if (!(base > 0)) return unsupported("the base is {}, expected a number above 0", base);
  Formula f(call);
  return f.result(f.apply(OpKind::exp, {f.tensor("exponent") * std::log(base)}));
}

Status reciprocal(Call& call) {
  Formula f(call);
  return f.result(f.constant(1) / f.tensor("self"));
}

/// Rounds halves to even.
Status round(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term below = f.apply(OpKind::floor, {x});
  const Term even = f.apply(OpKind::floor, {(below + 1.0) * 0.5}) * 2.0;
  const Term rest = x - below;
  const Term not_above = f.where(f.greater(0.5 - rest, 0), below, even);
  return f.result(f.where(f.greater(rest, 0.5), below + 1.0, not_above));
}

Status sign(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term negative = f.where(f.greater(x * -1.0, 0), f.constant(-1), f.constant(0));
  return f.result(f.where(f.greater(x, 0), f.constant(1), negative));
}

Status square(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x * x);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
