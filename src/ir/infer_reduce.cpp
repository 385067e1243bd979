// SPDX-License-Identifier: Apache-2.0
// Type rules of reductions, cumulative sums and normalizations over rows, float and integer.

#include <cmath>
#include <cstdlib>

#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

// docs/numerics.md: 255 * n must fit 31 bits, and n * n * 2^16 must fit 62 bits.
constexpr int64_t kRowMax = (int64_t{1} << 23) - 1;
// int16 values: n * n * 2^30 must fit 62 bits.
constexpr int64_t kWideRowMax = int64_t{1} << 16;
constexpr int32_t kNormBiasMax = 1 << 30;
constexpr int64_t kEpsShiftMax = 30;

Result<Shape> variance_rule(const InferContext& c) {
  const double correction = c.op().get(attr::correction);
  THIMBLE_TRY(Shape shape, mean_rule(c));
  const int64_t count = c.type(0).elements() / element_count(shape);
  if (correction >= 0 && correction < static_cast<double>(count)) return shape;
  return bad_input("correction is {}, expected 0 or more and less than the {} elements", correction,
                   count);
}

/// Returns the shape of the last `dims` dimensions.
Result<Shape> row_shape(const InferContext& c) {
  const Shape& shape = c.shape(0);
  if (shape.empty()) return bad_input("{}, which has no dimension", c.describe(0));
  THIMBLE_CHECK(c.expect_range(attr::last_dims, 1, static_cast<int64_t>(shape.size())));
  return Shape(shape.end() - c.get(attr::last_dims), shape.end());
}

/// Checks that each operand after x, if present, has shape `shape`.
Status check_affine(const InferContext& c, const Shape& shape) {
  for (size_t i = 1; i < c.count(); ++i) {
    if (c.has(i)) THIMBLE_CHECK(c.expect_shape(i, shape));
  }
  return ok();
}

Status check_eps(const InferContext& c) {
  const double eps = c.op().get(attr::eps);
  if (eps >= 0 && std::isfinite(eps)) return ok();
  return bad_input("eps is {}, expected 0 or more", eps);
}

/// Checks the shapes of a norm and returns the number of elements that are normalized together.
Result<int64_t> trailing_norm(const InferContext& c) {
  THIMBLE_TRY(const Shape row, row_shape(c));
  THIMBLE_CHECK(check_affine(c, row));
  return element_count(row);
}

Result<int64_t> group_norm(const InferContext& c) {
  const Shape& x = c.shape(0);
  if (x.size() < 2) return bad_input("{}, expected rank 2 or more", c.describe(0));
  const int64_t groups = c.get(attr::groups);
  if (groups < 1 || x[1] % groups != 0) {
    return bad_input("groups is {}, expected a divisor of the {} channels", groups, x[1]);
  }
  THIMBLE_CHECK(check_affine(c, {x[1]}));
  return c.type(0).elements() / (x[0] * groups);
}

using NormRule = Result<int64_t> (*)(const InferContext& c);

template <NormRule Rule>
Result<Shape> float_norm(const InferContext& c) {
  THIMBLE_CHECK(check_eps(c));
  THIMBLE_TRY([[maybe_unused]] const int64_t count, Rule(c));
  return c.shape(0);
}

Status check_row(int64_t count, int64_t most = kRowMax) {
  if (count <= most) return ok();
  return unsupported("{} elements in one row, at most {}", count, most);
}

Status check_norm_bias(const InferContext& c, size_t operand) {
  THIMBLE_CHECK(c.expect_dtype(operand, DType::kI32));
  THIMBLE_CHECK(c.expect_constant(operand));
  for (const int32_t b : c.value(operand).constant->data<int32_t>()) {
    if (b >= -kNormBiasMax && b <= kNormBiasMax) continue;
    return bad_input("b (%{}) holds {}, expected -2^30 to 2^30", c.value(operand).name, b);
  }
  return ok();
}

/// Checks what norms of int8 and of int16 values have in common.
Status check_norm(const InferContext& c, DType dtype, NormRule rule, int64_t row_max) {
  THIMBLE_CHECK(c.expect_dtype(0, dtype));
  if (c.has(1)) THIMBLE_CHECK(c.expect_dtype(1, DType::kI16));
  if (c.count() > 2 && c.has(2)) THIMBLE_CHECK(check_norm_bias(c, 2));
  THIMBLE_TRY(const int64_t count, rule(c));
  THIMBLE_CHECK(check_row(count, row_max));
  THIMBLE_CHECK(c.expect_range(attr::int_eps, 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range(attr::eps_shift, 0, kEpsShiftMax));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  return c.expect_range(attr::shift, -31, 0);
}

Result<Type> integer_norm(const InferContext& c, NormRule rule) {
  THIMBLE_CHECK(check_norm(c, DType::kI8, rule, kRowMax));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  THIMBLE_CHECK(check_clamp(c));
  return int8_result(c.shape(0));
}

Result<Type> wide_norm(const InferContext& c, NormRule rule) {
  THIMBLE_CHECK(check_norm(c, DType::kI16, rule, kWideRowMax));
  THIMBLE_CHECK(check_clamp16(c));
  return int16_result(c.shape(0));
}

}  // namespace

Result<Type> infer_amax(const InferContext& c) {
  THIMBLE_TRY(Shape shape, mean_rule(c));
  return data_movement_type(c, std::move(shape));
}
Result<Type> infer_amin(const InferContext& c) {
  return infer_amax(c);
}

Result<Type> infer_argmax(const InferContext& c) {
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  Shape shape = c.shape(0);
  if (c.get(attr::keepdim) != 0) {
    shape[dim] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  }
  return Type{DType::kI64, std::move(shape), {}, {}};
}

Result<Type> infer_cumsum(const InferContext& c) {
  return float_result(c, along_dim);
}
Result<Type> infer_sum(const InferContext& c) {
  return float_result(c, mean_rule);
}
Result<Type> infer_variance(const InferContext& c) {
  return float_result(c, variance_rule);
}

Result<Type> infer_group_norm(const InferContext& c) {
  return float_result(c, float_norm<group_norm>);
}
Result<Type> infer_layer_norm(const InferContext& c) {
  return float_result(c, float_norm<trailing_norm>);
}
Result<Type> infer_rms_norm(const InferContext& c) {
  return float_result(c, float_norm<trailing_norm>);
}

Result<Type> infer_qcumsum(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  THIMBLE_CHECK(check_zero_point(c, attr::x_zp));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(check_clamp(c));
  THIMBLE_CHECK(check_rounding(c));
  THIMBLE_CHECK(check_row(c.shape(0)[dim]));
  return int8_result(c.shape(0));
}

Result<Type> infer_qvariance(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_TRY(Shape shape, mean_rule(c));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(check_clamp(c));
  THIMBLE_CHECK(check_row(c.type(0).elements() / element_count(shape)));
  return int8_result(std::move(shape));
}

Result<Type> infer_qgroup_norm(const InferContext& c) {
  return integer_norm(c, group_norm);
}
Result<Type> infer_qlayer_norm(const InferContext& c) {
  return integer_norm(c, trailing_norm);
}
Result<Type> infer_qrms_norm(const InferContext& c) {
  THIMBLE_CHECK(check_zero_point(c, attr::x_zp));
  return integer_norm(c, trailing_norm);
}

Result<Type> infer_qgroup_norm16(const InferContext& c) {
  return wide_norm(c, group_norm);
}
Result<Type> infer_qlayer_norm16(const InferContext& c) {
  return wide_norm(c, trailing_norm);
}
Result<Type> infer_qrms_norm16(const InferContext& c) {
  return wide_norm(c, trailing_norm);
}

}  // namespace thimble::ir
