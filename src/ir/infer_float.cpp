// SPDX-License-Identifier: Apache-2.0
// Type rules of float arithmetic: f32 operands, an f32 result.

#include <cmath>

#include "ir/infer_rules.h"

namespace thimble::ir {

Result<Type> float_result(const InferContext& c, Result<Shape> (*rule)(const InferContext&)) {
  THIMBLE_CHECK(c.expect_dtypes(c.count(), DType::kF32));
  THIMBLE_TRY(Shape shape, rule(c));
  return Type{DType::kF32, std::move(shape), {}, {}};
}

Result<Shape> along_dim(const InferContext& c) {
  THIMBLE_CHECK(c.dimension(0));
  return c.shape(0);
}

Result<Shape> same_shape(const InferContext& c) {
  return c.shape(0);
}

namespace {

Result<Shape> batch_norm_shape(const InferContext& c) {
  if (c.shape(0).size() < 2) return bad_input("{}, expected rank 2 or more", c.describe(0));
  THIMBLE_CHECK(c.expect_shape(1, {c.shape(0)[1]}));
  THIMBLE_CHECK(c.expect_shape(2, {c.shape(0)[1]}));
  return c.shape(0);
}

Result<Shape> clamp_shape(const InferContext& c) {
  const double low = c.op().get(attr::float_min);
  const double high = c.op().get(attr::float_max);
  if (low > high) return bad_input("min {} is above max {}", low, high);
  return c.shape(0);
}

}  // namespace

Result<Type> infer_add(const InferContext& c) {
  return float_result(c, broadcast_rule);
}
Result<Type> infer_mul(const InferContext& c) {
  return float_result(c, broadcast_rule);
}
Result<Type> infer_sub(const InferContext& c) {
  return float_result(c, broadcast_rule);
}

Result<Type> infer_conv2d(const InferContext& c) {
  return float_result(c, convolution_rule);
}
Result<Type> infer_linear(const InferContext& c) {
  return float_result(c, linear_rule);
}
Result<Type> infer_matmul(const InferContext& c) {
  const double scale = c.op().get(attr::scale);
  if (!std::isfinite(scale)) return bad_input("scale is {}, expected a finite number", scale);
  return float_result(c, matmul_rule);
}
Result<Type> infer_batch_norm(const InferContext& c) {
  return float_result(c, batch_norm_shape);
}

Result<Type> infer_avg_pool2d(const InferContext& c) {
  return float_result(c, pool_rule);
}
Result<Type> infer_mean(const InferContext& c) {
  return float_result(c, mean_rule);
}

Result<Type> infer_log_softmax(const InferContext& c) {
  return float_result(c, along_dim);
}
Result<Type> infer_softmax(const InferContext& c) {
  return float_result(c, along_dim);
}

Result<Type> infer_clamp(const InferContext& c) {
  return float_result(c, clamp_shape);
}

}  // namespace thimble::ir
