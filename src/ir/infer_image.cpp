// SPDX-License-Identifier: Apache-2.0
// Type rules of the other image operators, float and integer: transposed convolution, adaptive
// pools, bilinear resizing.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

/// Returns the shape [N, C, H, W] with H and W from attribute `size`.
Result<Shape> sized_image(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(0, 4));
  THIMBLE_CHECK(c.expect_integers(attr::size, 2, 1));
  const auto& size = c.op().get(attr::size);
  return Shape{c.shape(0)[0], c.shape(0)[1], size[0], size[1]};
}

Result<Shape> resize_rule(const InferContext& c) {
  for (const auto key : {attr::scale_h, attr::scale_w}) {
    const double scale = c.op().get(key);
    if (scale >= 0 && std::isfinite(scale)) continue;
    return bad_input("{} is {}, expected 0 or a positive number", attr_name(key), scale);
  }
  return sized_image(c);
}

/// Returns the output extent along height (0) or width (1): the union of the windows that all
/// inputs write, minus the padding. In a transposed convolution padding removes elements.
Result<int64_t> transposed_extent(const InferContext& c, size_t side) {
  const int64_t input = c.shape(0)[2 + side];
  const int64_t kernel = c.shape(1)[2 + side];
  const auto& padding = c.op().get(attr::padding);
  const int64_t stride = c.op().get(attr::stride)[side];
  const int64_t extra = c.op().get(attr::output_padding)[side];
  const int64_t dilation = c.op().get(attr::dilation)[side];
  const int64_t cut = padding[side] + padding[side + 2];
  const int64_t extent = (input - 1) * stride + (kernel - 1) * dilation + 1 + extra - cut;
  if (extent >= 1 && extra < std::max(stride, dilation)) return extent;
  const std::string_view name = side == 0 ? "height" : "width";
  if (extent < 1) {
    return bad_input("output is empty: {} {} with padding {} and {}, kernel {}, stride {}", name,
                     input, padding[side], padding[side + 2], kernel, stride);
  }
  return bad_input("output_padding {} of the {}, expected less than stride {} or dilation {}",
                   extra, name, stride, dilation);
}

Result<Shape> transposed_rule(const InferContext& c) {
  THIMBLE_CHECK(c.expect_rank(0, 4));
  THIMBLE_CHECK(c.expect_rank(1, 4));
  const Shape& x = c.shape(0);
  const Shape& w = c.shape(1);
  const int64_t groups = c.get(attr::groups);
  if (groups < 1 || x[1] % groups != 0) {
    return bad_input("groups is {}, expected a divisor of the {} input channels", groups, x[1]);
  }
  THIMBLE_CHECK(c.expect_shape(1, {x[1], w[1], w[2], w[3]}));
  if (w[1] > kMaxElements / groups) return unsupported("the result has too many elements");
  const int64_t channels = w[1] * groups;
  if (c.has(2)) THIMBLE_CHECK(c.expect_shape(2, {channels}));
  THIMBLE_CHECK(c.expect_integers(attr::stride, 2, 1));
  THIMBLE_CHECK(c.expect_integers(attr::padding, 4, 0));
  THIMBLE_CHECK(c.expect_integers(attr::output_padding, 2, 0));
  THIMBLE_CHECK(c.expect_integers(attr::dilation, 2, 1));
  THIMBLE_TRY(const int64_t height, transposed_extent(c, 0));
  THIMBLE_TRY(const int64_t width, transposed_extent(c, 1));
  return Shape{x[0], channels, height, width};
}

/// Returns an upper bound of the number of products in one accumulator.
int64_t transposed_terms(const InferContext& c) {
  return c.shape(1)[0] / c.get(attr::groups) * c.shape(1)[2] * c.shape(1)[3];
}

/// Returns sum |w| of output channel `channel`. Its weights are column `channel % w[1]` of the
/// inputs of its group. Called only for accumulators that might overflow.
int64_t transposed_magnitude(const InferContext& c, std::span<const int8_t> w, int64_t channel) {
  const Shape& shape = c.shape(1);
  const int64_t groups = c.get(attr::groups);
  const int64_t inputs = shape[0] / groups;
  const int64_t taps = shape[2] * shape[3];
  int64_t sum = 0;
  for (int64_t i = 0; i < inputs; ++i) {
    const int64_t row = channel / shape[1] * inputs + i;
    const int64_t first = (row * shape[1] + channel % shape[1]) * taps;
    for (const int8_t weight : w.subspan(static_cast<size_t>(first), static_cast<size_t>(taps))) {
      sum += std::abs(weight);
    }
  }
  return sum;
}

/// Checks that operand i is a constant i32[entries] with each entry from 0 to `high`.
Status check_positions(const InferContext& c, size_t i, int64_t high) {
  THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
  THIMBLE_CHECK(c.expect_rank(i, 1));
  THIMBLE_CHECK(c.expect_constant(i));
  for (const int32_t entry : c.value(i).constant->data<int32_t>()) {
    if (entry >= 0 && entry <= high) continue;
    return bad_input("{}, which holds {}, expected 0 to {}", c.describe(i), entry, high);
  }
  return ok();
}

}  // namespace

Result<Type> infer_adaptive_avg_pool2d(const InferContext& c) {
  return float_result(c, sized_image);
}

Result<Type> infer_adaptive_max_pool2d(const InferContext& c) {
  THIMBLE_TRY(Shape shape, sized_image(c));
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_conv_transpose2d(const InferContext& c) {
  return float_result(c, transposed_rule);
}

Result<Type> infer_resize_bilinear(const InferContext& c) {
  return float_result(c, resize_rule);
}

Result<Type> infer_qadaptive_avg_pool2d(const InferContext& c) {
  THIMBLE_CHECK(expect_quantized(c));
  const bool wide = c.type(0).dtype == DType::kI16;
  THIMBLE_TRY(Shape shape, sized_image(c));
  THIMBLE_CHECK(wide ? check_clamp16(c) : check_clamp(c));
  // taps / 2 is added to the sum for rounding.
  const int64_t taps = c.shape(0)[2] * c.shape(0)[3];
  if (taps * (wide ? 32768 : 128) + taps / 2 > INT32_MAX) {
    return unsupported("an image of {} elements overflows 32 bits", taps);
  }
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_qconv_transpose2d(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI8));
  if (c.has(2)) THIMBLE_CHECK(c.expect_dtype(2, DType::kI32));
  THIMBLE_TRY(Shape shape, transposed_rule(c));
  THIMBLE_CHECK(check_weighted(c, shape[1], transposed_terms(c), transposed_magnitude));
  return int8_result(std::move(shape));
}

Result<Type> infer_qconv_transpose2d16(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI16));
  THIMBLE_CHECK(c.expect_dtype(1, DType::kI8));
  THIMBLE_TRY(Shape shape, transposed_rule(c));
  THIMBLE_CHECK(check_weighted16(c, shape[1], transposed_terms(c)));
  return int16_result(std::move(shape));
}

Result<Type> infer_qresize_bilinear(const InferContext& c) {
  constexpr int64_t kOne = 2048;
  THIMBLE_CHECK(expect_quantized(c));
  THIMBLE_CHECK(c.expect_rank(0, 4));
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const size_t low = 1 + 2 * side;
    THIMBLE_CHECK(check_positions(c, low, c.shape(0)[2 + side] - 1));
    THIMBLE_CHECK(check_positions(c, low + 1, kOne));
    THIMBLE_CHECK(c.expect_shape(low + 1, c.shape(low)));
  }
  return data_movement_type(c, {c.shape(0)[0], c.shape(0)[1], c.shape(1)[0], c.shape(3)[0]});
}

}  // namespace thimble::ir
