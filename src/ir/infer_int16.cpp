// SPDX-License-Identifier: Apache-2.0
// Type rules of integer arithmetic with 16-bit activations (docs/numerics.md, "16-bit
// activations").

#include <cstdlib>

#include "ir/infer_rules.h"
#include "numerics/fixed_point.h"
#include "numerics/int16.h"

namespace thimble::ir {
Type int16_result(Shape shape) {
  return {DType::kI16, std::move(shape), {}, {}};
}

Status check_clamp16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::min, INT16_MIN, INT16_MAX));
  return c.expect_range(attr::max, c.get(attr::min), INT16_MAX);
}

/// Checks the multiplier of requantize64.
Status check_multiplier64(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::mult, 0, INT32_MAX));
  return c.expect_range(attr::shift, numerics::kShiftMin, numerics::kRequantize64ShiftMax);
}

Status check_weighted16(const InferContext& c, int64_t channels, int64_t terms) {
  if (c.has(2)) THIMBLE_CHECK(c.expect_dtype(2, DType::kI64));
  THIMBLE_CHECK(check_channel_multipliers(c, channels));
  for (const int32_t shift : c.value(4).constant->data<int32_t>()) {
    if (shift > numerics::kRequantize64ShiftMax) {
      return bad_input("shift (%{}) holds {}, expected at most {}", c.value(4).name, shift,
                       numerics::kRequantize64ShiftMax);
    }
  }
  THIMBLE_CHECK(check_clamp16(c));
  int64_t bias = 0;
  if (c.has(2)) {
    THIMBLE_CHECK(c.expect_constant(2));
    for (const int64_t b : c.value(2).constant->data<int64_t>()) {
      if (b <= -numerics::kRequantize64SumMax || b >= numerics::kRequantize64SumMax) {
        return unsupported("a bias of {} exceeds 2^47", b);
      }
      bias = std::max(bias, std::abs(b));
    }
  }
  constexpr int64_t kProductMax = int64_t{128} * 32768;
  if (terms <= (numerics::kRequantize64SumMax - 1 - bias) / kProductMax) return ok();
  return unsupported("the accumulator may reach 2^47 ({} products)", terms);
}

Status expect_quantized(const InferContext& c) {
  if (c.type(0).dtype == DType::kI8 || c.type(0).dtype == DType::kI16) return ok();
  return bad_input("{}, expected i8 or i16", c.describe(0));
}

namespace {

Result<Type> weighted16(const InferContext& c, Result<Shape> (*rule)(const InferContext&)) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  THIMBLE_CHECK(c.expect_dtype(1, DType::kI8));
  THIMBLE_TRY(Shape shape, rule(c));
  const int64_t channels = c.shape(1)[0];
  THIMBLE_CHECK(check_weighted16(c, channels, c.type(1).elements() / channels));
  return int16_result(std::move(shape));
}

Result<Shape> broadcast16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI16));
  THIMBLE_CHECK(check_clamp16(c));
  return broadcast_rule(c);
}

Result<Type> scaled_sum16(const InferContext& c) {
  THIMBLE_TRY(Shape shape, broadcast16(c));
  THIMBLE_CHECK(check_multiplier(c, attr::a_multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::b_multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::y_multiplier));
  return int16_result(std::move(shape));
}

}  // namespace

Result<Type> infer_lut16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI16));
  THIMBLE_CHECK(c.expect_shape(1, {numerics::kLut16Size}));
  return int16_result(c.shape(0));
}

Result<Type> infer_qadd16(const InferContext& c) {
  return scaled_sum16(c);
}
Result<Type> infer_qsub16(const InferContext& c) {
  return scaled_sum16(c);
}

Result<Type> infer_qmul16(const InferContext& c) {
  THIMBLE_TRY(Shape shape, broadcast16(c));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  return int16_result(std::move(shape));
}

Result<Type> infer_qconv2d16(const InferContext& c) {
  return weighted16(c, convolution_rule);
}
Result<Type> infer_qlinear16(const InferContext& c) {
  return weighted16(c, linear_rule);
}

Result<Type> infer_qmatmul16(const InferContext& c) {
  // 2^16 products of 2^30 stay below 2^47.
  constexpr int64_t kDepthMax = int64_t{1} << 16;
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI16));
  THIMBLE_TRY(Shape shape, matmul_rule(c));
  THIMBLE_CHECK(check_multiplier64(c));
  THIMBLE_CHECK(check_clamp16(c));
  const int64_t depth = c.shape(0).back();
  if (depth > kDepthMax) {
    return unsupported("a sum of {} products of two activations, at most {}", depth, kDepthMax);
  }
  return int16_result(std::move(shape));
}

Result<Type> infer_qprelu16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI16));
  THIMBLE_TRY(Shape shape, broadcast_to_first(c));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::w_multiplier));
  THIMBLE_CHECK(check_clamp16(c));
  return int16_result(std::move(shape));
}

Result<Type> infer_max_pool2d16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  return infer_max_pool2d(c);
}

Result<Type> infer_qavg_pool2d16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  THIMBLE_TRY(const Window window, pool_window(c));
  THIMBLE_CHECK(check_clamp16(c));
  const int64_t taps = window.kernel[0] * window.kernel[1];
  if (taps * 32768 > INT32_MAX) {
    return unsupported("a window of {} elements overflows 32 bits", taps);
  }
  Type type = int16_result({c.shape(0)[0], c.shape(0)[1], window.output[0], window.output[1]});
  type.quant = kept_quant(c.type(0));
  return type;
}

Result<Type> infer_qmean16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  THIMBLE_TRY(Shape shape, mean_rule(c));
  THIMBLE_CHECK(check_multiplier64(c));
  THIMBLE_CHECK(check_clamp16(c));
  return int16_result(std::move(shape));  // 2^31 elements times 2^15 stay below 2^47
}

Result<Type> infer_qsoftmax16(const InferContext& c) {
  THIMBLE_CHECK(expect_quantized(c));
  THIMBLE_CHECK(check_softmax(c, c.type(0).dtype == DType::kI8 ? 255 : 65535));
  Type type = int16_result(c.shape(0));
  type.quant = per_tensor(0x1p-15, 0);
  return type;
}

Result<Type> infer_rescale(const InferContext& c) {
  THIMBLE_CHECK(expect_quantized(c));
  const bool wide_x = c.type(0).dtype == DType::kI16;
  const bool wide_y = c.get(attr::wide) != 0;
  THIMBLE_CHECK(
      c.expect_range(attr::x_zp, wide_x ? INT16_MIN : INT8_MIN, wide_x ? INT16_MAX : 127));
  THIMBLE_CHECK(
      c.expect_range(attr::y_zp, wide_y ? INT16_MIN : INT8_MIN, wide_y ? INT16_MAX : 127));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  return Type{wide_y ? DType::kI16 : DType::kI8, c.shape(0), {}, {}};
}

}  // namespace thimble::ir
