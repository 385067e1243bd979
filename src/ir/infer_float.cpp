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
  const double low = c.op().number("min");
  const double high = c.op().number("max");
  if (low > high) return bad_input("min {} is above max {}", low, high);
  return c.shape(0);
}

}  // namespace

THIMBLE_FLOAT_RULE(add, broadcast_rule)
THIMBLE_FLOAT_RULE(mul, broadcast_rule)
THIMBLE_FLOAT_RULE(sub, broadcast_rule)

THIMBLE_FLOAT_RULE(conv2d, convolution_rule)
THIMBLE_FLOAT_RULE(linear, linear_rule)
Result<Type> infer_matmul(const InferContext& c) {
  const double scale = c.op().number("scale");
  if (!std::isfinite(scale)) return bad_input("scale is {}, expected a finite number", scale);
  return float_result(c, matmul_rule);
}
THIMBLE_FLOAT_RULE(batch_norm, batch_norm_shape)

THIMBLE_FLOAT_RULE(avg_pool2d, pool_rule)
THIMBLE_FLOAT_RULE(mean, mean_rule)

THIMBLE_FLOAT_RULE(log_softmax, along_dim)
THIMBLE_FLOAT_RULE(softmax, along_dim)

THIMBLE_FLOAT_RULE(clamp, clamp_shape)
THIMBLE_FLOAT_RULE(sigmoid, same_shape)
THIMBLE_FLOAT_RULE(tanh, same_shape)

}  // namespace thimble::ir
