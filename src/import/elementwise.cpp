// Arithmetic and activations element by element, and softmax. A Python number is a float32 constant
// of shape [].

#include <cmath>
#include <limits>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A tensor or a number, times `factor`.
Result<ValueId> operand(Call& call, std::string_view name, double factor = 1) {
  if (call.is_tensor(name)) {
    THIMBLE_TRY(const ValueId value, call.tensor(name));
    return call.scaled(value, factor);
  }
  THIMBLE_TRY(const double value, call.number(name));
  return call.scalar(value * factor);
}

/// self kind alpha * other, or with the sides exchanged.
Status binary(Call& call, OpKind kind, bool exchanged = false) {
  THIMBLE_TRY(const double alpha, call.number("alpha", 1));
  THIMBLE_TRY(ValueId a, operand(call, "self", exchanged ? alpha : 1));
  THIMBLE_TRY(ValueId b, operand(call, "other", exchanged ? 1 : alpha));
  if (exchanged) std::swap(a, b);
  THIMBLE_TRY(const ValueId y, call.add(kind, {a, b}));
  return call.result(y);
}

Status unary(Call& call, OpKind kind, ir::Attrs attrs = {}) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const ValueId y, call.add(kind, {x}, std::move(attrs)));
  return call.result(y);
}

Status clamped(Call& call, double low, double high) {
  return unary(call, OpKind::clamp, {{"min", low}, {"max", high}});
}

/// An operator that the IR does not have, on weights.
Status of_constant(Call& call, float (*function)(float)) {
  THIMBLE_TRY(const ir::Tensor* x, call.constant("self"));
  ir::Tensor y = *x;
  for (float& value : y.data<float>()) value = function(value);
  return call.result(call.constant_value("", std::move(y)));
}

Status normalized_exponentials(Call& call, OpKind kind) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", call.shape(x).size()));
  THIMBLE_TRY(const ValueId y, call.add(kind, {x}, {{"dim", dim}}));
  return call.result(y);
}

}  // namespace

namespace handlers {

Status add(Call& call) {
  return binary(call, OpKind::add);
}
Status mul(Call& call) {
  return binary(call, OpKind::mul);
}
Status sub(Call& call) {
  return binary(call, OpKind::sub);
}
Status rsub(Call& call) {
  return binary(call, OpKind::sub, true);
}

/// By a number or a constant: times the reciprocal.
Status div(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  ir::Tensor reciprocal = ir::zeros(ir::DType::kF32, {});
  if (call.is_tensor("other")) {
    THIMBLE_TRY(const ir::Tensor* other, call.constant("other"));
    reciprocal = *other;
    for (float& value : reciprocal.data<float>())
      value = static_cast<float>(1.0 / static_cast<double>(value));
  } else {
    THIMBLE_TRY(const double other, call.number("other"));
    reciprocal.data<float>()[0] = static_cast<float>(1.0 / other);
  }
  for (const float value : reciprocal.data<float>()) {
    if (!std::isfinite(value)) return unsupported("a divisor has no float32 reciprocal");
  }
  const ValueId factor = call.constant_value("reciprocal", std::move(reciprocal));
  THIMBLE_TRY(const ValueId y, call.add(OpKind::mul, {x, factor}));
  return call.result(y);
}

Status neg(Call& call) {
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const ValueId y, call.scaled(x, -1));
  return call.result(y);
}

Status abs(Call& call) {
  return of_constant(call, [](float x) { return std::fabs(x); });
}
Status sqrt(Call& call) {
  return of_constant(call, [](float x) { return std::sqrt(x); });
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
  THIMBLE_TRY(const double low, call.number("min", -kInfinity));
  THIMBLE_TRY(const double high, call.number("max", kInfinity));
  return clamped(call, std::min(low, high), high);  // PyTorch: the maximum wins
}

Status sigmoid(Call& call) {
  return unary(call, OpKind::sigmoid);
}
Status tanh(Call& call) {
  return unary(call, OpKind::tanh);
}
Status softmax(Call& call) {
  return normalized_exponentials(call, OpKind::softmax);
}
Status log_softmax(Call& call) {
  return normalized_exponentials(call, OpKind::log_softmax);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
