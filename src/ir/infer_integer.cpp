// SPDX-License-Identifier: Apache-2.0
// Type rules of integer arithmetic and of the operators between float and integer. In addition to
// types, they check every number that has a range in docs/numerics.md, so no accumulator overflows.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ir/infer_rules.h"
#include "ir/weight_bits.h"
#include "numerics/fixed_point.h"

namespace thimble::ir {

Type int8_result(Shape shape) {
  return {DType::kI8, std::move(shape), {}, {}};
}

Status check_zero_point(const InferContext& c, AttrKey<int64_t> key) {
  return c.expect_range(key, -128, 127);
}

Status check_clamp(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::min, -128, 127));
  return c.expect_range(attr::max, c.get(attr::min), 127);
}

Status check_multiplier(const InferContext& c, const MultiplierKeys& keys) {
  THIMBLE_CHECK(c.expect_range(keys.mult, 0, INT32_MAX));
  return c.expect_range(keys.shift, numerics::kShiftMin, numerics::kShiftMax);
}

Status check_rounding(const InferContext& c) {
  return c.expect_range(attr::rounding, 0, 1);
}

Status check_channel_multipliers(const InferContext& c, int64_t channels) {
  for (const size_t i : {size_t{3}, size_t{4}}) {
    THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
    THIMBLE_CHECK(c.expect_constant(i));
    if (c.shape(i) != Shape{1}) THIMBLE_CHECK(c.expect_shape(i, {channels}));
  }
  for (const int32_t mult : c.value(3).constant->data<int32_t>()) {
    if (mult < 0)
      return bad_input("mult (%{}) holds {}, expected 0 or more", c.value(3).name, mult);
  }
  for (const int32_t shift : c.value(4).constant->data<int32_t>()) {
    if (!numerics::shift_in_range(shift)) {
      return bad_input("shift (%{}) holds {}, expected {} to {}", c.value(4).name, shift,
                       numerics::kShiftMin, numerics::kShiftMax);
    }
  }
  return ok();
}

namespace {

// Upper bounds of |x - zero_point| for int8 values and of |w|.
constexpr int64_t kActivationMax = 255;
constexpr int64_t kWeightMax = 128;

/// Returns sum |w| of one output channel whose weights are contiguous.
int64_t filter_magnitude(const InferContext& c, std::span<const int8_t> w, int64_t channel) {
  const size_t terms = w.size() / static_cast<size_t>(c.shape(1)[0]);
  int64_t sum = 0;
  for (const int8_t weight : w.subspan(static_cast<size_t>(channel) * terms, terms)) {
    sum += std::abs(weight);
  }
  return sum;
}

}  // namespace

Status check_weighted(const InferContext& c, int64_t channels, int64_t terms,
                      Magnitude magnitude_of) {
  const bool may_be_even = has_attr(c.op().kind, attr::bytes);
  if (may_be_even) {
    THIMBLE_CHECK(check_half_even_attrs(c));
  } else {
    THIMBLE_CHECK(check_rounding(c));
  }
  THIMBLE_CHECK(may_be_even && rounds_half_to_even(c) ? check_half_even_channels(c, channels)
                                                      : check_channel_multipliers(c, channels));
  THIMBLE_CHECK(check_zero_point(c, attr::x_zp));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  if (!may_be_even) THIMBLE_CHECK(check_clamp(c));
  const auto& weights = c.value(1).constant;
  for (int64_t channel = 0; channel < channels; ++channel) {
    int64_t bias = 0;
    if (c.has(2) && c.value(2).constant != nullptr) {
      bias = std::abs(int64_t{c.value(2).constant->data<int32_t>()[static_cast<size_t>(channel)]});
    }
    if (terms * kWeightMax * kActivationMax + bias <= INT32_MAX) continue;
    // The bound from the actual weights may be lower.
    const int64_t magnitude =
        weights == nullptr ? terms * kWeightMax : magnitude_of(c, weights->data<int8_t>(), channel);
    const int64_t bound = magnitude * kActivationMax + bias;
    if (bound <= INT32_MAX) continue;
    return unsupported(
        "the accumulator of output channel {} may reach {}, which exceeds 32 bits "
        "({} products)",
        channel, bound, terms);
  }
  return ok();
}

Status check_softmax(const InferContext& c, int64_t difference_max) {
  THIMBLE_CHECK(c.dimension(0));
  THIMBLE_CHECK(c.expect_range(attr::mult, 0, INT32_MAX));
  THIMBLE_CHECK(c.expect_range(attr::shift, 0, 31));
  THIMBLE_CHECK(c.expect_range(attr::diff_min, INT32_MIN, 0));
  const int64_t lowest = std::max(c.get(attr::diff_min), -difference_max);
  if (lowest * (int64_t{1} << c.get(attr::shift)) >= INT32_MIN) return ok();
  return bad_input("diff_min {} times 2^{} is below 32 bits", lowest, c.get(attr::shift));
}

namespace {

/// Checks weights of 4 bits with a factor for each group of an output channel.
Status check_weight_groups(const InferContext& c, const Shape& shape,
                           std::span<const int8_t> weights) {
  const int64_t group = c.get(attr::weight_group);
  if (group != kWeightGroup) {
    return bad_input("weight_group is {}, expected 0 or {}", group, kWeightGroup);
  }
  const size_t terms = shape.size() < 2 ? 0 : static_cast<size_t>(shape[1]);
  if (weights.size() != static_cast<size_t>(shape[0]) * terms) {
    return bad_input("weight_group is {}, but the window has more than one tap", group);
  }
  for (size_t row = 0; row < weights.size(); row += terms) {
    for (size_t first = 0; first < terms; first += static_cast<size_t>(group)) {
      const size_t count = std::min(static_cast<size_t>(group), terms - first);
      if (group_factor(weights.subspan(row + first, count)) != 0) continue;
      return bad_input(
          "weight_group is {}, but the weights {} to {} of output channel {} are no products of a "
          "factor up to {} with -8 to 7",
          group, first, first + count - 1, row / terms, kGroupFactorMax);
    }
  }
  return ok();
}

}  // namespace

Status check_weight_bits(const InferContext& c, size_t operand) {
  const bool grouped = has_grouped_weights(c.op());
  const int64_t bits = c.get(attr::weight_bits);
  if (bits == 8 && grouped) return bad_input("weight_group with weight_bits 8, expected 4");
  if (bits == 8) return ok();
  if (bits != 4) return bad_input("weight_bits is {}, expected 4 or 8", bits);
  const auto& weights = c.value(operand).constant;
  if (weights == nullptr) return bad_input("weight_bits is 4, but the weights are no constant");
  if (grouped) return check_weight_groups(c, c.shape(operand), weights->data<int8_t>());
  for (const int8_t weight : weights->data<int8_t>()) {
    if (weight < -8 || weight > 7) {
      return bad_input("weight_bits is 4, but a weight is {}, expected -8 to 7", weight);
    }
  }
  return ok();
}

namespace {

Result<Type> weighted_result(const InferContext& c, Result<Shape> (*rule)(const InferContext&)) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI8));
  if (c.has(2)) THIMBLE_CHECK(c.expect_dtype(2, DType::kI32));
  THIMBLE_CHECK(check_weight_bits(c, 1));
  THIMBLE_TRY(Shape shape, rule(c));
  const int64_t channels = c.shape(1)[0];
  THIMBLE_CHECK(check_weighted(c, channels, c.type(1).elements() / channels, filter_magnitude));
  return half_even_result(c, std::move(shape));
}

Result<Shape> int8_broadcast(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI8));
  for (const auto key : {attr::a_zp, attr::b_zp, attr::y_zp})
    THIMBLE_CHECK(check_zero_point(c, key));
  return broadcast_rule(c);
}

Result<Type> scaled_sum(const InferContext& c) {
  THIMBLE_TRY(Shape shape, int8_broadcast(c));
  THIMBLE_CHECK(check_clamp(c));
  THIMBLE_CHECK(check_rounding(c));
  THIMBLE_CHECK(check_multiplier(c, attr::a_multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::b_multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::y_multiplier));
  return int8_result(std::move(shape));
}

/// Checks that operand 1 is i32[256] or i8[256].
Status check_table(const InferContext& c, DType dtype) {
  THIMBLE_CHECK(c.expect_dtype(1, dtype));
  return c.expect_shape(1, {256});
}

}  // namespace

Result<Type> infer_lut(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_CHECK(check_table(c, DType::kI8));
  return int8_result(c.shape(0));
}

Result<Type> infer_qadd(const InferContext& c) {
  THIMBLE_CHECK(check_half_even_attrs(c));
  if (!rounds_half_to_even(c)) return scaled_sum(c);
  // Only the result has a shift; the multipliers apply to the quantized values directly.
  constexpr int64_t kMultMax = INT16_MAX;
  THIMBLE_TRY(Shape shape, int8_broadcast(c));
  for (const auto key : {attr::a_mult, attr::b_mult})
    THIMBLE_CHECK(c.expect_range(key, 0, kMultMax));
  for (const auto key : {attr::a_shift, attr::b_shift}) THIMBLE_CHECK(c.expect_range(key, 0, 0));
  THIMBLE_CHECK(c.expect_range(attr::y_mult, 1, 1));
  THIMBLE_CHECK(check_half_even_multiplier(c, attr::y_multiplier));
  return half_even_result(c, std::move(shape));
}
Result<Type> infer_qsub(const InferContext& c) {
  return scaled_sum(c);
}

Result<Type> infer_qmul(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI8));
  // The range exceeds int8 because an operand may be a sum with a constant. Products fit 32 bits.
  for (const auto key : {attr::a_zp, attr::b_zp}) THIMBLE_CHECK(c.expect_range(key, -32767, 32767));
  THIMBLE_CHECK(check_half_even_attrs(c));
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  THIMBLE_CHECK(rounds_half_to_even(c) ? check_half_even_multiplier(c, attr::multiplier)
                                       : check_multiplier(c, attr::multiplier));
  return half_even_result(c, std::move(shape));
}

Result<Type> infer_qconv2d(const InferContext& c) {
  return weighted_result(c, convolution_rule);
}
Result<Type> infer_qlinear(const InferContext& c) {
  return weighted_result(c, linear_rule);
}

Result<Type> infer_qavg_pool2d(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_TRY(const Window window, pool_window(c));
  THIMBLE_CHECK(check_half_even_attrs(c));
  if (rounds_half_to_even(c)) {
    THIMBLE_CHECK(check_zero_point(c, attr::x_zp));
    THIMBLE_CHECK(check_half_even_multiplier(c, attr::multiplier));
  } else {
    for (const auto key : {attr::x_zp, attr::y_zp, attr::mult, attr::shift}) {
      if (c.get(key) != 0) return bad_input("{} is set, which needs rounding 2", attr_name(key));
    }
  }
  const int64_t taps = window.kernel[0] * window.kernel[1];
  if (taps * 255 > INT32_MAX) return unsupported("a window of {} elements overflows 32 bits", taps);
  Type type =
      half_even_result(c, {c.shape(0)[0], c.shape(0)[1], window.output[0], window.output[1]});
  if (!rounds_half_to_even(c)) type.quant = kept_quant(c.type(0));
  return type;
}

Result<Type> infer_qmatmul(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtypes(2, DType::kI8));
  THIMBLE_TRY(Shape shape, matmul_rule(c));
  for (const auto key : {attr::a_zp, attr::b_zp, attr::y_zp})
    THIMBLE_CHECK(check_zero_point(c, key));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  THIMBLE_CHECK(check_clamp(c));
  THIMBLE_CHECK(check_rounding(c));
  const int64_t depth = c.shape(0).back();
  if (depth * kActivationMax * kActivationMax > INT32_MAX) {
    return unsupported("a sum of {} products of two activations overflows 32 bits", depth);
  }
  return int8_result(std::move(shape));
}

Result<Type> infer_qmean(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_TRY(Shape shape, mean_rule(c));
  THIMBLE_CHECK(check_zero_point(c, attr::x_zp));
  THIMBLE_CHECK(check_half_even_attrs(c));
  THIMBLE_CHECK(rounds_half_to_even(c) ? check_half_even_multiplier(c, attr::multiplier)
                                       : check_multiplier(c, attr::multiplier));
  const int64_t terms = c.type(0).elements() / element_count(shape);
  if (terms * kActivationMax > INT32_MAX) {
    return unsupported("a mean of {} elements overflows 32 bits", terms);
  }
  return half_even_result(c, std::move(shape));
}

Result<Type> infer_qmasked_softmax(const InferContext& c) {
  return infer_qsoftmax(c);
}

Result<Type> infer_qsoftmax(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_CHECK(check_softmax(c, 255));
  return int8_result(c.shape(0));
}

Result<Type> infer_qlog_softmax(const InferContext& c) {
  // Each term of the sum is at most 2^20, and the sum is positive in 32 bits.
  constexpr int64_t kRowMax = 2047;
  constexpr int32_t kEntryMax = 1 << 20;
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI8));
  THIMBLE_CHECK(check_table(c, DType::kI32));
  THIMBLE_CHECK(c.expect_constant(1));
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  if (c.shape(0)[dim] > kRowMax) {
    return unsupported("a log-softmax over {} elements, at most {}", c.shape(0)[dim], kRowMax);
  }
  const auto table = c.value(1).constant->data<int32_t>();
  for (const int32_t entry : table) {
    if (entry < 0 || entry > kEntryMax || table[0] < 1) {
      return bad_input("exp_table (%{}) holds {}, expected 0 to {} and a positive entry 0",
                       c.value(1).name, entry, kEntryMax);
    }
  }
  THIMBLE_CHECK(check_multiplier(c, attr::scale_multiplier));
  THIMBLE_CHECK(check_multiplier(c, attr::log_multiplier));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  return int8_result(c.shape(0));
}

}  // namespace thimble::ir
