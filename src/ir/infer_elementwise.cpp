// SPDX-License-Identifier: Apache-2.0
// Type rules of elementwise operators, with numpy-style broadcasting for several operands:
// functions of one float value, and selections and comparisons of any element type.

#include "ir/infer_rules.h"
#include "numerics/fixed_point.h"

namespace thimble::ir {

Result<Shape> broadcast_to_first(const InferContext& c) {
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  if (shape == c.shape(0)) return shape;
  return bad_input("{}, which does not broadcast to {}", c.describe(1), c.describe(0));
}

namespace {

/// Checks that operands i and j have the same element type.
Status check_same_dtype(const InferContext& c, size_t i, size_t j) {
  if (c.type(i).dtype == c.type(j).dtype) return ok();
  return bad_input("{} and {}, expected one element type", c.describe(i), c.describe(j));
}

/// Returns the per-tensor quantization if both types have the same one, else nullopt.
std::optional<Quant> joint_quant(const Type& a, const Type& b) {
  return a.quant == b.quant ? kept_quant(a) : std::nullopt;
}

/// Quantized values can be compared or merged only if their quantizations are equal.
Status check_one_scale(const InferContext& c, size_t i, size_t j) {
  const auto& a = c.type(i).quant;
  const auto& b = c.type(j).quant;
  if (!a || !b || a == b) return ok();
  return bad_input("{} and {}, which have different quantizations", c.describe(i), c.describe(j));
}

/// Type rule of maximum and minimum.
Result<Type> select_type(const InferContext& c) {
  THIMBLE_CHECK(check_same_dtype(c, 0, 1));
  THIMBLE_CHECK(check_one_scale(c, 0, 1));
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  return Type{c.type(0).dtype, std::move(shape), {}, joint_quant(c.type(0), c.type(1))};
}

Result<Type> bool_result(const InferContext& c, Shape shape) {
  THIMBLE_CHECK(c.expect_dtypes(c.count(), DType::kBool));
  return Type{DType::kBool, std::move(shape), {}, {}};
}

/// Checks the int8 operands, zero points, clamp bounds and rounding of a q* operator.
Status check_int8(const InferContext& c, std::initializer_list<AttrKey<int64_t>> zero_points) {
  THIMBLE_CHECK(c.expect_dtypes(c.count(), DType::kI8));
  for (const auto key : zero_points) THIMBLE_CHECK(check_zero_point(c, key));
  THIMBLE_CHECK(check_clamp(c));
  return check_rounding(c);
}

}  // namespace

#define THIMBLE_FUNCTION(name, exact, stable)        \
  Result<Type> infer_##name(const InferContext& c) { \
    return float_result(c, same_shape);              \
  }
#include "ir/functions.def"
#undef THIMBLE_FUNCTION

Result<Type> infer_pow(const InferContext& c) {
  return float_result(c, same_shape);
}

Result<Type> infer_div(const InferContext& c) {
  return float_result(c, broadcast_rule);
}

Result<Type> infer_prelu(const InferContext& c) {
  return float_result(c, broadcast_to_first);
}

Result<Type> infer_maximum(const InferContext& c) {
  return select_type(c);
}
Result<Type> infer_minimum(const InferContext& c) {
  return select_type(c);
}

Result<Type> infer_compare(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::relation, 0, 5));
  THIMBLE_CHECK(check_same_dtype(c, 0, 1));
  THIMBLE_CHECK(check_one_scale(c, 0, 1));
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  return Type{DType::kBool, std::move(shape), {}, {}};
}

Result<Type> infer_logical_and(const InferContext& c) {
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  return bool_result(c, std::move(shape));
}
Result<Type> infer_logical_or(const InferContext& c) {
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  return bool_result(c, std::move(shape));
}
Result<Type> infer_logical_not(const InferContext& c) {
  return bool_result(c, c.shape(0));
}

Result<Type> infer_where(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kBool));
  THIMBLE_CHECK(check_same_dtype(c, 1, 2));
  THIMBLE_CHECK(check_one_scale(c, 1, 2));
  const auto chosen = broadcast_shape(c.shape(1), c.shape(2));
  auto shape = chosen ? broadcast_shape(c.shape(0), *chosen) : std::nullopt;
  if (!shape) {
    return bad_input("{}, {} and {}, which do not broadcast", c.describe(0), c.describe(1),
                     c.describe(2));
  }
  return Type{c.type(1).dtype, *std::move(shape), {}, joint_quant(c.type(1), c.type(2))};
}

Result<Type> infer_qdiv(const InferContext& c) {
  // The quotient is below 2^28: a larger shift could overflow.
  constexpr int64_t kShiftMax = 3;
  THIMBLE_CHECK(check_int8(c, {attr::a_zp, attr::b_zp, attr::y_zp}));
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  THIMBLE_CHECK(c.expect_range(attr::shift, numerics::kShiftMin, kShiftMax));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  return int8_result(std::move(shape));
}

Result<Type> infer_qprelu(const InferContext& c) {
  THIMBLE_CHECK(check_int8(c, {attr::x_zp, attr::w_zp, attr::y_zp}));
  THIMBLE_TRY(Shape shape, broadcast_to_first(c));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::w_multiplier));
  return int8_result(std::move(shape));
}

}  // namespace thimble::ir
