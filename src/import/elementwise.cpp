// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic and activations, and softmax. A Python number becomes a float32 constant
// of shape [].

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns a tensor or number argument, multiplied by `factor`.
Result<ValueId> operand(Call& call, std::string_view name, double factor = 1) {
  if (call.is_tensor(name)) {
    THIMBLE_TRY(const ValueId value, call.tensor(name));
    return call.scaled(value, factor);
  }
  THIMBLE_TRY(const double value, call.number(name));
  return call.scalar(value * factor);
}

/// self kind alpha * other; with `exchanged`, the operands are swapped.
Status binary(Call& call, OpKind kind, bool exchanged = false) {
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  THIMBLE_TRY(ValueId a, operand(call, "self", exchanged ? alpha : 1));
  THIMBLE_TRY(ValueId b, operand(call, "other", exchanged ? 1 : alpha));
  if (exchanged) std::swap(a, b);
  return call.result(call.add(kind, {a, b}));
}

Status unary(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  return call.result(call.add(kind, {x}, std::move(attrs)));
}

Status clamped(Call& call, double low, double high) {
  return unary(call, OpKind::clamp, {{ir::attr::float_min, low}, {ir::attr::float_max, high}});
}

/// Returns nullopt if an element has no float32 reciprocal.
std::optional<ir::Tensor> reciprocal_of(const ir::Tensor& tensor) {
  ir::Tensor result = tensor;
  for (float& value : result.data<float>()) {
    value = static_cast<float>(1.0 / static_cast<double>(value));
    if (!std::isfinite(value)) return std::nullopt;
  }
  return result;
}

/// Returns true if all elements are powers of two, for which division is exact.
bool are_powers_of_two(const ir::Tensor& tensor) {
  const auto values = tensor.data<float>();
  return std::all_of(values.begin(), values.end(), [](float value) {
    int exponent = 0;
    return std::fabs(std::frexp(value, &exponent)) == 0.5F && std::abs(exponent) < 64;
  });
}

/// Division. A constant divisor becomes a product with the reciprocal if the reciprocal exists.
Status divided(Call& call, const std::string& rounding) {
  THIMBLE_TRY(ValueId divisor, operand(call, "other"));
  const ir::Tensor* constant = call.builder().constant_of(divisor);
  if (!rounding.empty() && (constant == nullptr || !are_powers_of_two(*constant))) {
    return unsupported(
        "rounding_mode={} needs a divisor that is a constant power of two: multiply with a "
        "constant, then use floor or trunc",
        rounding);
  }
  auto reciprocal = constant == nullptr ? std::nullopt : reciprocal_of(*constant);
  Formula f(call);
  const Term x = f.operand("self");
  const Term y = reciprocal ? x * f.value(call.constant_value("reciprocal", *std::move(reciprocal)))
                            : x / f.value(divisor);
  if (rounding == "floor") return f.result(f.apply(OpKind::floor, {y}));
  return f.result(rounding == "trunc" ? truncated(f, y) : y);
}

Status normalized_exponentials(Call& call, OpKind kind) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size()));
  return call.result(call.add(kind, {x}, {{ir::attr::dim, dim}}));
}

}  // namespace

namespace handlers {

Status add(Call& call) {
  return binary(call, OpKind::add);
}
Status mul(Call& call) {
  if (call.is_dynamic_scale("other")) {
    THIMBLE_TRY(const ValueId x, call.tensor("self"));
    const auto* meta = call.result_meta();
    if (meta != nullptr) {
      THIMBLE_TRY(const ir::Shape sizes, call.symbols().values(meta->sizes));
      if (sizes == call.shape(x)) return call.result(x);  // the scale is 1
    }
  }
  return binary(call, OpKind::mul);
}
Status sub(Call& call) {
  return binary(call, OpKind::sub);
}
Status rsub(Call& call) {
  return binary(call, OpKind::sub, true);
}

Status div(Call& call) {
  THIMBLE_TRY(const std::string rounding, call.text("rounding_mode", ""));
  return divided(call, rounding);
}

/// Rounds towards negative infinity.
Status floor_divide(Call& call) {
  return divided(call, "floor");
}

/// self + value * tensor1 * tensor2. addcdiv() divides by tensor2.
Status addcmul(Call& call) {
  Formula f(call);
  const Term product = f.tensor("tensor1") * f.tensor("tensor2");
  return f.result(f.tensor("self") + product * f.number("value", 1));
}
Status addcdiv(Call& call) {
  Formula f(call);
  const Term quotient = f.tensor("tensor1") / f.tensor("tensor2");
  return f.result(f.tensor("self") + quotient * f.number("value", 1));
}

/// self + weight * (end - self).
Status lerp(Call& call) {
  Formula f(call);
  const Term x = f.tensor("self");
  return f.result(x + (f.tensor("end") - x) * f.operand("weight"));
}

Status neg(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  return call.result(call.scaled(x, -1));
}

Status relu(Call& call) {
  return clamped(call, 0, kInfinity);
}
Status relu6(Call& call) {
  return clamped(call, 0, 6);
}

Status hardtanh(Call& call) {
  THIMBLE_TRY(const double low, call.number("min_val", -1));
  THIMBLE_TRY(const double high, call.number("max_val", 1));
  return clamped(call, std::min(low, high), high);
}

Status clamp(Call& call) {
  if (call.is_tensor("min") || call.is_tensor("max")) {
    Formula f(call);
    Term x = f.tensor("self");
    if (call.has("min")) x = f.apply(OpKind::maximum, {x, f.operand("min")});
    if (call.has("max")) x = f.apply(OpKind::minimum, {x, f.operand("max")});
    return f.result(x);
  }
  THIMBLE_TRY(const double low, call.number("min", -kInfinity));
  THIMBLE_TRY(const double high, call.number("max", kInfinity));
  return clamped(call, std::min(low, high), high);  // as in PyTorch, the maximum has priority
}

Status softmax(Call& call) {
  return normalized_exponentials(call, OpKind::softmax);
}
Status log_softmax(Call& call) {
  return normalized_exponentials(call, OpKind::log_softmax);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
