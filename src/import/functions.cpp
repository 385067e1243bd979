// SPDX-License-Identifier: Apache-2.0
// Elementwise functions.

#include <algorithm>
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

/// Returns tan(angle / 2) for the angle whose sine is x. Near 1 and -1 it loses no precision.
Term half_tangent_of_sine(Formula& f, Term x) {
  return x / (f.apply(OpKind::sqrt, {(x + 1.0) * (1.0 - x)}) + 1.0);
}

Term relation_of(Formula& f, Term a, Term b, Relation relation) {
  return f.apply(OpKind::compare, {a, b}, {{ir::attr::relation, static_cast<int64_t>(relation)}});
}

/// Returns a constant with f(x) for each element x.
template <typename F>
ValueId mapped(Call& call, std::string_view role, const ir::Tensor& from, F f) {
  ir::Tensor result = from;
  for (float& value : result.data<float>()) {
    value = static_cast<float>(f(static_cast<double>(value)));
  }
  return call.constant_value(role, std::move(result));
}

/// Powers with a constant exponent per element: |x|^e, negative for x < 0 and odd e.
Status powers(Call& call, ValueId x, const ir::Tensor& exponents) {
  constexpr double kSmallest = 1e-30;  // in place of 0, whose logarithm is infinite
  const auto is_odd = [](double e) { return std::fmod(std::fabs(e), 2.0) == 1 ? 1.0 : 0.0; };
  Formula f(call);
  const Term base = f.value(x);
  const Term magnitude = f.clamp(f.apply(OpKind::abs, {base}), kSmallest, HUGE_VAL);
  const Term log = f.apply(OpKind::log, {magnitude});
  const Term e = f.value(mapped(call, "exponent", exponents, [](double value) { return value; }));
  const Term y = f.apply(OpKind::exp, {log * e});
  const Term odd = f.value(mapped(call, "odd", exponents, is_odd));
  // -1 for a negative base with an odd exponent, else 1
  const Term negative = f.where(f.greater(base * -1.0, 0), odd, f.constant(0));
  return f.result(y * (1.0 - negative * 2.0));
}

/// base^exponent of two tensors.
Status power_of_tensors(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const ValueId e, call.tensor("exponent"));
  const ir::Tensor* base = call.builder().known(x);
  const ir::Tensor* exponent = call.builder().known(e);
  if (exponent != nullptr && exponent->data<float>().size() == 1) {
    Formula f(call);
    const double value = static_cast<double>(exponent->data<float>()[0]);
    return f.result(power(f, f.value(x), value));
  }
  const auto is_positive = [](float value) { return value > 0; };
  if (base != nullptr && std::ranges::all_of(base->data<float>(), is_positive)) {
    const ValueId log = mapped(call, "log", *base, [](double value) { return std::log(value); });
    Formula f(call);
    return f.result(f.apply(OpKind::exp, {f.value(e) * f.value(log)}));
  }
  if (exponent != nullptr) {
    const ir::Tensor held = *exponent;
    return powers(call, x, held);
  }
  Formula f(call);
  return f.result(f.apply(OpKind::exp, {f.value(e) * f.apply(OpKind::log, {f.value(x)})}));
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

/// The remainder of a division. remainder() has the sign of the divisor, fmod() that of x.
Status remainder(Call& call) {
  Formula f(call);
  const Term divisor = f.operand("other");
  const Term x = f.tensor("self");
  return f.result(x - f.apply(OpKind::floor, {x / divisor}) * divisor);
}
Status fmod(Call& call) {
  Formula f(call);
  const Term divisor = f.operand("other");
  const Term x = f.tensor("self");
  return f.result(x - truncated(f, x / divisor) * divisor);
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

Status isinf(Call& call) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  Formula f(call);
  return f.result(f.greater(f.apply(OpKind::abs, {f.tensor("self")}), kLargest));
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
/// The angle is twice that of half its tangent.
Status asin(Call& call) {
  Formula f(call);
  const Term half = half_tangent_of_sine(f, f.tensor("self"));
  return f.result(f.apply(OpKind::atan, {half}) * 2.0);
}
Status acos(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  const Term half = f.apply(OpKind::sqrt, {(1.0 - x) / (x + 1.0)});
  return f.result(f.apply(OpKind::atan, {half}) * 2.0);
}

/// The angle of the point (other, self). The quotient of the smaller and the larger coordinate is
/// at most 1, so that a quantized quotient keeps its precision.
Status atan2(Call& call) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kSmallest = 1e-30;  // the angle of (0, 0) is 0
  Formula f(call);
  const Term y = f.tensor("self");
  const Term x = f.tensor("other");
  const Term height = f.apply(OpKind::abs, {y});
  const Term width = f.apply(OpKind::abs, {x});
  const Term larger = f.clamp(f.apply(OpKind::maximum, {height, width}), kSmallest, HUGE_VAL);
  const Term angle = f.apply(OpKind::atan, {f.apply(OpKind::minimum, {height, width}) / larger});
  const Term steep = f.where(relation_of(f, height, width, Relation::kGt), kPi / 2 - angle, angle);
  const Term left = f.where(f.greater(x * -1.0, 0), kPi - steep, steep);
  return f.result(f.where(f.greater(y * -1.0, 0), left * -1.0, left));
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
  if (call.is_tensor("self")) return power_of_tensors(call);
  THIMBLE_TRY(const double base, call.number("self"));
  if (!(base > 0))
    return unsupported(
        "the base is {}, expected a number above 0: the base may be negative only if the exponent "
        "is a number",
        base);
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
