// SPDX-License-Identifier: Apache-2.0
// Pools, reductions and softmax.

#include <algorithm>
#include <bit>
#include <cmath>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::OpKind;
using ir::Shape;

Status TfliteLowering::pool() {
  const bool is_mean = op_->kind == OpKind::qavg_pool2d || op_->kind == OpKind::qavg_pool2d16;
  if (!is_mean && get(ir::attr::dilation) != std::vector<int64_t>{1, 1}) {
    return refuse("MAX_POOL_2D has no dilation");
  }
  const auto &kernel = get(ir::attr::kernel), &stride = get(ir::attr::stride);
  formats::tflite::PoolOptions options;
  options.height = static_cast<int32_t>(kernel[0]);
  options.width = static_cast<int32_t>(kernel[1]);
  options.stride_h = static_cast<int32_t>(stride[0]);
  options.stride_w = static_cast<int32_t>(stride[1]);
  const int unpadded = image(0);
  const size_t transposed = model_.operators.size();
  THIMBLE_TRY(const int x, padded(unpadded, kernel, &options.padding));
  if (is_mean && model_.operators.size() != transposed) {
    return refuse("AVERAGE_POOL_2D counts only the padding of SAME");
  }
  ClampMethod t;
  if (is_mean) {
    const auto& quant = graph_.type(op_->output).quant;
    const bool free = bounds().min <= lowest() && bounds().max >= highest();
    if (!free && !quant) return refuse("its result has no scale");
    t.limit = !free;
  }
  const int made = emit(is_mean ? Op::kAveragePool2d : Op::kMaxPool2d, options, {x},
                        make_like(x, result_shape_in(Layouts::image())));
  return put(t.limit ? clamped(made) : made, Layouts::image());
}

namespace {

/// Returns the multiplier of LiteRT's MEAN: the multiplier of the ratio of scales, divided by
/// count.
numerics::Multiplier mean_multiplier(double ratio, int64_t count) {
  numerics::Multiplier m = litert_multiplier(ratio);
  int shift = 63 - std::countl_zero(static_cast<uint64_t>(count));
  shift = std::min({shift, 32, 31 + m.shift});
  m.mult = static_cast<int32_t>((int64_t{m.mult} << shift) / count);
  m.shift -= shift;
  return m;
}

/// Returns true if the reduction is a sum: its multiplier is n times that of a mean.
bool is_sum(const numerics::Multiplier& m, double ratio, int64_t n) {
  const double real = std::ldexp(static_cast<double>(m.mult), m.shift - 31);
  return n > 1 && real > ratio / std::sqrt(static_cast<double>(n));
}

}  // namespace

/// Reshapes to an image with n rows, n being the number of elements per mean: [outer, n, 1, inner].
Status TfliteLowering::mean() {
  THIMBLE_CHECK(operand_scale(0, ir::attr::x_zp));
  THIMBLE_CHECK(result_scale());
  auto dims = get(ir::attr::dims);
  std::sort(dims.begin(), dims.end());
  const Shape& s = shape(0);
  if (s.size() == 4 && dims == std::vector<int64_t>{2, 3}) {
    const Shape out = {s[0], 1, 1, s[1]};
    const int y = make_result(out);
    THIMBLE_CHECK(mean_of(image(0), out, y));
    return ok();
  }
  const bool neighbours = dims.back() - dims.front() + 1 == static_cast<int64_t>(dims.size());
  if (!neighbours) {  // the reduced dimensions are moved to the end
    const DimOrder order = order_with_last(dims);
    const Shape ordered = Layouts::in_order(s, order);
    const auto first_reduced = ordered.end() - static_cast<int64_t>(dims.size());
    const int64_t kept = ir::element_count(Shape(ordered.begin(), first_reduced));
    const int64_t count = ir::element_count(Shape(first_reduced, ordered.end()));
    const int x = reshaped(operand_in(0, order), {kept, count, 1, 1});
    const Shape out = {kept, 1, 1, 1};
    return mean_of(x, out, make_result(out));
  }
  const auto first = s.begin() + dims.front(), last = s.begin() + dims.back() + 1;
  const Shape image = {ir::element_count(Shape(s.begin(), first)),
                       ir::element_count(Shape(first, last)), 1,
                       ir::element_count(Shape(last, s.end()))};
  const Shape out = {image[0], 1, 1, image[3]};
  const int y = make_result(out);
  return mean_of(reshaped(logical(0), image), out, y);
}

/// Writes MEAN if its multiplier gives the graph's results. Otherwise writes a depthwise
/// convolution with weights of 1 and a weight scale of about 1 / n.
Status TfliteLowering::mean_of(int x, const Shape& out, int y) {
  const auto s = at(x).shape;  // a copy: tensors are added below
  const int64_t n = int64_t{s[1]} * s[2], channels = s[3];
  const float x_scale = at(x).scale[0], y_scale = at(y).scale[0];
  const int64_t zero = get(ir::attr::x_zp);
  const RequantizeFn ours = make_requantize_fn(multiplier(), bounds(), single_rounding());
  const int64_t low = n * (-128 - zero), high = n * (127 - zero);
  const double ratio = static_cast<double>(x_scale) / static_cast<double>(y_scale);
  const auto finish = [&](int made) {
    if (activation(y_scale) != formats::tflite::Activation::kNone) made = clamped(made);
    if (result_shape().size() == 4 && shape(0).size() == 4 && result_shape()[2] == 1 &&
        result_shape()[3] == 1 && result_shape()[1] == out[3]) {
      return put(made, Layouts::image());
    }
    return put(reshaped(made, result_shape()));
  };
  if (profile_.functions && is_sum(multiplier(), ratio, n)) {
    return finish(
        emit(Op::kSum, formats::tflite::ReducerOptions{}, {x, constants({2}, {1, 2})}, y));
  }
  const auto theirs = mean_multiplier(ratio, n);
  if (numerics::shift_in_range(theirs.shift) &&
      same_requantization(ours, make_requantize_fn(theirs, bounds()), low, high)) {
    return finish(
        emit(Op::kMean, formats::tflite::ReducerOptions{}, {x, constants({2}, {1, 2})}, y));
  }
  float w = static_cast<float>(1.0 / static_cast<double>(n));
  // Derived from the graph's multiplier: a sum has n times the multiplier of a mean.
  const double real = std::ldexp(static_cast<double>(multiplier().mult), multiplier().shift - 31);
  w = static_cast<float>(real / ratio);
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const float scale = i % 2 == 0 ? w : std::nextafter(w, INFINITY);
    const auto conv = litert_multiplier(static_cast<double>(x_scale) * static_cast<double>(scale) /
                                        static_cast<double>(y_scale));
    if (same_requantization(ours, make_requantize_fn(conv, bounds()), low, high)) {
      const int ones = make({1, s[1], s[2], channels}, DType::kInt8, ".ones");
      at(ones).data = Bytes(static_cast<size_t>(n * channels), std::byte(1));
      at(ones).scale = {scale};
      at(ones).zero_point = {0};
      const int none = make({channels}, DType::kInt32, ".bias");
      at(none).data = Bytes(static_cast<size_t>(channels) * 4);
      at(none).scale = {x_scale * scale};
      at(none).zero_point = {0};
      return finish(emit(Op::kDepthwiseConv2d, formats::tflite::ConvOptions{}, {x, ones, none}, y));
    }
    if (i % 2 != 0) w = std::nextafter(w, 0.0F);
  }
  return refuse("neither MEAN's multiplier nor that of a convolution gives the same results");
}

Status TfliteLowering::reduce_max_or_min() {
  const DimOrder order = layouts_.existing(operand(0));
  const int x = operand_in(0, order);
  std::vector<int32_t> axes;
  Shape kept = shape(0);
  for (const int64_t dim : get(ir::attr::dims)) {
    axes.push_back(Layouts::position(order, dim));
    kept[static_cast<size_t>(dim)] = 1;
  }
  const int list = constants({static_cast<int64_t>(axes.size())}, axes);
  const Shape there = Layouts::in_order(kept, order);
  return put_reduced(emit(op_->kind == OpKind::amax ? Op::kReduceMax : Op::kReduceMin,
                          formats::tflite::ReducerOptions{}, {x, list}, make_like(x, there)),
                     order);
}

Status TfliteLowering::arg_max_or_min() {
  const int x = logical(0);
  if (at(x).type != DType::kInt8) return refuse("ARG_MAX reads int8");
  Shape out = shape(0);
  const auto dim = static_cast<int32_t>(get(ir::attr::dim));
  out.erase(out.begin() + dim);
  const int axis = make({}, DType::kInt32, ".axis");
  append_le(at(axis).data, static_cast<uint32_t>(dim));
  const int made = emit(get(ir::attr::smallest) != 0 ? Op::kArgMin : Op::kArgMax,
                        formats::tflite::ArgOptions{}, {x, axis}, make(out, DType::kInt64));
  return put(out == result_shape() ? made : reshaped(made, result_shape()));
}

/// LiteRT's softmax reduces the last dimension and has a fixed result scale.
Status TfliteLowering::softmax() {
  const ir::Value& x_value = graph_.value(operand(0));
  if (wide()) return refuse("SOFTMAX of int16 uses a different table");
  if (!x_value.type.quant) return refuse("its operand has no scale");
  const auto x_scale = static_cast<float>(x_value.type.quant->scale[0]);
  const auto theirs =
      litert_multiplier(std::min(static_cast<double>(x_scale) * 0x1p26, 0x1p31 - 1));
  if (theirs != multiplier()) return refuse("the multiplier is not that of its operand's scale");
  const ir::Type& type = graph_.type(op_->output);
  if (type.dtype == ir::DType::kI16) {
    return refuse("SOFTMAX from int8 to int16 has the scale 1/65536 and the zero point -32768");
  }
  if (type.quant != ir::per_tensor(0x1p-8, -128)) {
    return refuse("the scale of its result differs from the fixed scale of SOFTMAX");
  }
  const auto rank = shape(0).size();
  const DimOrder order = order_with_last({get(ir::attr::dim)});
  const Shape there = Layouts::in_order(shape(0), order);
  const Shape rows = {ir::element_count(there) / there.back(), there.back()};
  int x = operand_in(0, order);
  if (rank > 4) x = reshaped(x, rows);
  int made = emit(Op::kSoftmax, formats::tflite::SoftmaxOptions{}, {x},
                  make_result(rank > 4 ? rows : there));
  if (rank > 4) made = reshaped(made, there);
  return put(made, order);
}

}  // namespace thimble::interchange
