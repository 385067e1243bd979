// SPDX-License-Identifier: Apache-2.0
// Convolutions, linear layers and matrix products. LiteRT computes a channel's multiplier as (scale
// of x) * (scale of the weights) / (scale of y). The scales of the weights are chosen so that this
// multiplier gives the graph's results.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "interchange/tflite/tflite_lowering.h"

namespace thimble::interchange {

using formats::tflite::ConvOptions;
using formats::tflite::Padding;
using ir::Shape;

/// Bounds of the accumulator and the graph's multiplier, per output channel.
struct TfliteLowering::AccumulatorBounds {
  std::vector<int64_t> low, high;
  std::vector<numerics::Multiplier> multipliers;
  std::vector<double> weight_scale;  // from the graph; 0: unknown
  float x_scale = 0, y_scale = 0;
};

namespace {

/// LiteRT's formula for a multiplier from three scales.
using Formula = double (*)(float x, float w, float y);

double each_channel(float x, float w, float y) {
  return static_cast<double>(x) * static_cast<double>(w) / static_cast<double>(y);
}
double one_for_all(float x, float w, float y) {
  return static_cast<double>(x * w) / static_cast<double>(y);
}

constexpr int kNeighbours = 4;

/// Returns the float `steps` floats above `value`, or below it if `steps` is negative.
float float_steps_from(float value, int steps) {
  for (int i = 0; i < std::abs(steps); ++i) {
    value = std::nextafter(value, steps > 0 ? INFINITY : 0.0F);
  }
  return value;
}

/// Returns 0, 1, -1, 2, -2, ... for i = 0, 1, 2, 3, 4, ...
int alternate(int i) {
  return i % 2 == 0 ? -i / 2 : (i + 1) / 2;
}

}  // namespace

/// Checks that weights, bias, multipliers and shifts are constant and that x and the result have
/// the operator's zero points. Returns the scales of x and of the result, and the accumulator
/// bounds of each channel. `place(channel, i)` is the index of the channel's i-th weight; the
/// number of weights per channel is the tensor's size divided by `outs`.
Result<TfliteLowering::AccumulatorBounds> TfliteLowering::accumulator_bounds(
    int64_t outs, const std::function<size_t(int64_t, int64_t)>& place) {
  for (const size_t i : {size_t{1}, size_t{3}, size_t{4}}) THIMBLE_CHECK(check_constant(i));
  if (has(2)) THIMBLE_CHECK(check_constant(2));
  AccumulatorBounds sums;
  THIMBLE_TRY(sums.x_scale, operand_scale(0, ir::attr::x_zp));
  THIMBLE_TRY(sums.y_scale, result_scale());
  const ir::Value& w = graph_.value(operand(1));
  const auto codes = w.constant->data<int8_t>();
  const auto mult = graph_.value(operand(3)).constant->data<int32_t>();
  const auto shift = graph_.value(operand(4)).constant->data<int32_t>();
  const int64_t zero = zero_point(ir::attr::x_zp);
  const int64_t least = lowest() - zero, most = highest() - zero;
  const int64_t each = static_cast<int64_t>(codes.size()) / outs;
  for (int64_t o = 0; o < outs; ++o) {
    int64_t low = 0;
    if (has(2)) {
      const ir::Tensor& bias = *graph_.value(operand(2)).constant;
      const auto at = static_cast<size_t>(o);
      low = bias.dtype == ir::DType::kI64 ? bias.data<int64_t>()[at] : bias.data<int32_t>()[at];
    }
    int64_t high = low;
    for (int64_t i = 0; i < each; ++i) {
      const int64_t code = codes[place(o, i)];
      low += std::min(code * least, code * most);
      high += std::max(code * least, code * most);
    }
    sums.low.push_back(low);
    sums.high.push_back(high);
    const size_t entry = mult.size() > 1 ? static_cast<size_t>(o) : 0;
    sums.multipliers.push_back({mult[entry], shift[entry]});
    double scale = 0;
    if (w.type.quant) {
      const auto& all = w.type.quant->scale;
      scale = all.size() > 1 ? all[static_cast<size_t>(o) % all.size()] : all[0];
    }
    sums.weight_scale.push_back(scale);
  }
  return sums;
}

/// Returns one scale per channel, or a single scale if that gives the same results. `matrix`: uses
/// the formula and rounding of FULLY_CONNECTED.
Result<std::vector<float>> TfliteLowering::weight_scales(const AccumulatorBounds& sums,
                                                         bool matrix) {
  const auto fits = [&](size_t o, double real) {
    const numerics::Multiplier theirs = litert_multiplier(real);
    if (theirs == sums.multipliers[o] && single_rounding() == matrix) return true;
    if (wide()) return false;  // 64-bit sums: the multipliers must be equal
    return numerics::shift_in_range(theirs.shift) && sums.low[o] >= INT32_MIN &&
           sums.high[o] <= INT32_MAX &&
           same_requantization(make_requantize_fn(sums.multipliers[o], bounds(), single_rounding()),
                               make_requantize_fn(theirs, bounds(), matrix), sums.low[o],
                               sums.high[o]);
  };
  const auto search = [&](size_t o, Formula formula) -> std::optional<float> {
    const numerics::Multiplier& m = sums.multipliers[o];
    const double derived = std::ldexp(static_cast<double>(m.mult), m.shift - 31) *
                           static_cast<double>(sums.y_scale) / static_cast<double>(sums.x_scale);
    for (const double start : {sums.weight_scale[o], derived}) {
      if (!(start > 0)) continue;
      for (int i = 0; i <= 2 * kNeighbours; ++i) {
        const float w = float_steps_from(static_cast<float>(start), alternate(i));
        if (fits(o, formula(sums.x_scale, w, sums.y_scale))) return w;
      }
    }
    // A channel whose weights are all 0 may have the multiplier 0.
    if (m.mult == 0 && fits(o, 0x1p-100)) return 0x1p-100F;
    return std::nullopt;
  };
  if (std::all_of(sums.multipliers.begin(), sums.multipliers.end(),
                  [&](const auto& m) { return m == sums.multipliers[0]; })) {
    const Formula formula = matrix ? one_for_all : each_channel;
    const auto w = search(0, formula);
    bool all = w.has_value();
    for (size_t o = 0; all && o < sums.multipliers.size(); ++o) {
      all = fits(o, formula(sums.x_scale, *w, sums.y_scale));
    }
    if (all) return std::vector<float>{*w};
  }
  std::vector<float> scales;
  for (size_t o = 0; o < sums.multipliers.size(); ++o) {
    const auto w = search(o, each_channel);
    if (!w || (matrix && sums.multipliers.size() == 1)) {
      return refuse(fmt::format("no scale of the weights of channel {} gives the multiplier {}", o,
                                std::ldexp(static_cast<double>(sums.multipliers[o].mult),
                                           sums.multipliers[o].shift - 31)));
    }
    scales.push_back(*w);
  }
  return scales;
}

int TfliteLowering::weights(const Shape& shape, Bytes bytes, const std::vector<float>& scales,
                            int axis) {
  const int made = make(shape, DType::kInt8);
  at(made).name = graph_.value(operand(1)).name;
  at(made).data = std::move(bytes);
  at(made).scale = scales;
  at(made).zero_point.assign(scales.size(), 0);
  at(made).axis = scales.size() > 1 ? axis : 0;
  return made;
}

/// Creates the bias: int32, or int64 with int16 activations; zeros if the operator has no bias.
int TfliteLowering::bias(const std::vector<float>& scales) {
  const auto& mult = graph_.value(operand(3)).type.shape;
  int64_t outs = mult[0];
  if (has(2)) outs = shape(2)[0];
  if (!has(2)) {
    outs = op_->kind == ir::OpKind::qlinear || op_->kind == ir::OpKind::qlinear16
               ? shape(1)[0]
               : result_shape()[1];
  }
  const int made = make({outs}, wide() ? DType::kInt64 : DType::kInt32);
  at(made).name = has(2) ? graph_.value(operand(2)).name : at(made).name + ".bias";
  at(made).data = has(2) ? Bytes(graph_.value(operand(2)).constant->bytes)
                         : Bytes(static_cast<size_t>(outs) * (wide() ? 8 : 4));
  const float x = static_cast<float>(graph_.type(operand(0)).quant->scale[0]);
  for (const float w : scales) at(made).scale.push_back(x * w);
  at(made).zero_point.assign(scales.size(), 0);
  return made;
}

namespace {

/// Padding along one dimension of a window, and if it equals LiteRT's SAME or VALID padding.
struct WindowPadding {
  int64_t before = 0, after = 0;  // padding that the windows read
  bool same = false, valid = false;
};

WindowPadding window_padding(int64_t size, int64_t before, int64_t after, int64_t window,
                             int64_t stride) {
  const int64_t out = (size + before + after - window) / stride + 1;
  const int64_t needed = (out - 1) * stride + window - size;  // total padding for `out` windows
  WindowPadding side;
  side.before = before;
  side.after = std::max<int64_t>(needed - before, 0);
  const int64_t total = std::max<int64_t>(needed, 0);
  side.same = out == (size + stride - 1) / stride && before == total / 2;
  side.valid = before == 0 && needed <= 0;
  return side;
}

}  // namespace

/// Returns x, [N, H, W, C]. Pads x with PAD if neither SAME nor VALID equals the padding.
Result<int> TfliteLowering::padded(int x, const Shape& kernel, Padding* padding) {
  const auto &stride = get(ir::attr::stride), &pads = get(ir::attr::padding);
  const auto s = at(x).shape;  // a copy: tensors are added below
  const WindowPadding rows = window_padding(s[1], pads[0], pads[2], kernel[0], stride[0]);
  const WindowPadding columns = window_padding(s[2], pads[1], pads[3], kernel[1], stride[1]);
  if (rows.valid && columns.valid) return x;
  const ir::OpKind kind = op_->kind;
  // Only SAME excludes padding from an average.
  const bool average = kind == ir::OpKind::qavg_pool2d || kind == ir::OpKind::qavg_pool2d16;
  if (rows.same && columns.same && (average || !profile_.explicit_padding)) {
    *padding = Padding::kSame;
    return x;
  }
  const auto pad = [](int64_t n) { return static_cast<int32_t>(n); };
  const int list = constants({4, 2}, {0, 0, pad(rows.before), pad(rows.after), pad(columns.before),
                                      pad(columns.after), 0, 0});
  const Shape out = {s[0], s[1] + rows.before + rows.after, s[2] + columns.before + columns.after,
                     s[3]};
  const bool largest = kind == ir::OpKind::max_pool2d || kind == ir::OpKind::max_pool2d16;
  if (largest) {
    const int fill = scalar_like(x, lowest());
    return emit(Op::kPadV2, {}, {x, list, fill}, make_like(x, out));
  }
  return emit(Op::kPad, {}, {x, list}, make_like(x, out));
}

Status TfliteLowering::convolution() {
  THIMBLE_TRY(const ir::Tensor* const weights_tensor, constant_content(1));
  const ir::Tensor& w = *weights_tensor;
  const int64_t outs = w.shape[0], channels = shape(0)[1];
  const int64_t each = ir::element_count(w.shape) / outs;
  THIMBLE_TRY(const AccumulatorBounds sums, accumulator_bounds(outs, [&](int64_t o, int64_t i) {
                return static_cast<size_t>(o * each + i);
              }));
  THIMBLE_TRY(const std::vector<float> scales, weight_scales(sums, false));
  const auto &stride = get(ir::attr::stride), &dilation = get(ir::attr::dilation);
  ConvOptions options;
  options.stride_h = static_cast<int32_t>(stride[0]);
  options.stride_w = static_cast<int32_t>(stride[1]);
  options.dilation_h = static_cast<int32_t>(dilation[0]);
  options.dilation_w = static_cast<int32_t>(dilation[1]);
  options.wide_bias = wide();
  const Shape window = {(w.shape[2] - 1) * dilation[0] + 1, (w.shape[3] - 1) * dilation[1] + 1};
  THIMBLE_TRY(const int x, padded(image(0), window, &options.padding));
  const bool depthwise = get(ir::attr::groups) == channels && w.shape[1] == 1 && channels > 1;
  int kernel = -1;
  if (depthwise) {
    options.depth_multiplier = static_cast<int32_t>(outs / channels);
    kernel = weights({1, w.shape[2], w.shape[3], outs}, ir::to_memory(w, {1, 2, 3, 0}), scales, 3);
  } else {
    kernel = weights({outs, w.shape[2], w.shape[3], w.shape[1]}, ir::to_memory(w, {0, 2, 3, 1}),
                     scales, 0);
  }
  const ClampMethod t = clamp_method(sums.y_scale);
  options.activation = t.activation;
  const int made = emit(depthwise ? Op::kDepthwiseConv2d : Op::kConv2d, options,
                        {x, kernel, bias(scales)}, make_result(result_shape_in(Layouts::image())));
  return put(t.limit ? clamped(made) : made, Layouts::image());
}

/// Writes TRANSPOSE_CONV without padding and slices the result to the padded size.
Status TfliteLowering::transposed_convolution() {
  THIMBLE_TRY(const ir::Tensor* const weights_tensor, constant_content(1));
  const ir::Tensor& w = *weights_tensor;
  const int64_t outs = w.shape[1], taps = w.shape[2] * w.shape[3];
  THIMBLE_TRY(const AccumulatorBounds sums, accumulator_bounds(outs, [&](int64_t o, int64_t i) {
                return static_cast<size_t>((i / taps * outs + o) * taps + i % taps);
              }));
  if (get(ir::attr::groups) != 1) return refuse("TRANSPOSE_CONV has no groups");
  if (get(ir::attr::dilation) != std::vector<int64_t>{1, 1}) {
    return refuse("TRANSPOSE_CONV has no dilation");
  }
  THIMBLE_TRY(const std::vector<float> scales, weight_scales(sums, false));
  const auto &stride = get(ir::attr::stride), &pads = get(ir::attr::padding);
  ConvOptions options;
  options.stride_h = static_cast<int32_t>(stride[0]);
  options.stride_w = static_cast<int32_t>(stride[1]);
  const Shape& y = result_shape();
  const Shape& s = shape(0);
  const Shape full = {y[0], std::max((s[2] - 1) * stride[0] + w.shape[2], pads[0] + y[2]),
                      std::max((s[3] - 1) * stride[1] + w.shape[3], pads[1] + y[3]), y[1]};
  const ClampMethod t = clamp_method(sums.y_scale);
  options.activation = t.activation;
  const int sizes = constants({4}, {full.begin(), full.end()});
  const int kernel = weights({outs, w.shape[2], w.shape[3], w.shape[0]},
                             ir::to_memory(w, {1, 2, 3, 0}), scales, 0);
  int made =
      emit(Op::kTransposeConv, options, {sizes, kernel, image(0), bias(scales)}, make_result(full));
  if (t.limit) made = clamped(made);
  const Shape kept = {y[0], y[2], y[3], y[1]};
  if (kept != full) {
    const int begin =
        constants({4}, {0, static_cast<int32_t>(pads[0]), static_cast<int32_t>(pads[1]), 0});
    const int size = constants({4}, {kept.begin(), kept.end()});
    made = emit(Op::kSlice, {}, {made, begin, size}, make_like(made, kept));
  }
  return put(made, Layouts::image());
}

/// LiteRT's FULLY_CONNECTED rounds once. A linear layer with double rounding is written as a
/// convolution of an image with one column.
Status TfliteLowering::linear() {
  THIMBLE_TRY(const ir::Tensor* const weights_tensor, constant_content(1));
  const ir::Tensor& w = *weights_tensor;
  const int64_t outs = w.shape[0], ins = w.shape[1];
  THIMBLE_TRY(const AccumulatorBounds sums, accumulator_bounds(outs, [&](int64_t o, int64_t i) {
                return static_cast<size_t>(o * ins + i);
              }));
  const bool matrix = single_rounding();
  THIMBLE_TRY(const std::vector<float> scales, weight_scales(sums, matrix));
  const int64_t rows = ir::element_count(shape(0)) / ins;
  const bool keeps = matrix && profile_.keeps_dims && shape(0).size() > 2;
  const Shape from = keeps ? shape(0) : matrix ? Shape{rows, ins} : Shape{1, rows, 1, ins};
  const Shape to = keeps ? result_shape() : matrix ? Shape{rows, outs} : Shape{1, rows, 1, outs};
  const Shape kernel_shape = matrix ? w.shape : Shape{outs, 1, 1, ins};
  int x = logical(0);
  if (shape(0) != from) x = reshaped(x, from);
  const ClampMethod t = clamp_method(sums.y_scale);
  const int kernel = weights(kernel_shape, Bytes(w.bytes), scales, 0);
  const int y = make_result(to);
  if (matrix) {
    emit(Op::kFullyConnected, formats::tflite::FullyConnectedOptions{t.activation, keeps},
         {x, kernel, bias(scales)}, y);
  } else {
    ConvOptions options;
    options.activation = t.activation;
    options.wide_bias = wide();
    emit(Op::kConv2d, options, {x, kernel, bias(scales)}, y);
  }
  int made = t.limit ? clamped(y) : y;
  if (result_shape() != to) made = reshaped(made, result_shape());
  return put(made);
}

/// Multiplies x by a constant so that its scale becomes `scale`; the quantized values do not
/// change.
int TfliteLowering::scaled(int x, float scale) {
  const float own = at(x).scale[0];
  const Shape shape(at(x).shape.begin(), at(x).shape.end());
  const int factor = make({}, DType::kInt8, ".factor");
  at(factor).data = Bytes(1, std::byte(1));
  at(factor).scale = {scale / own};
  at(factor).zero_point = {0};
  const int made = make_like(x, shape);
  at(made).name += ".scaled";
  at(made).scale = {scale};
  return emit(Op::kMul, formats::tflite::ActivationOptions{}, {x, factor}, made);
}

/// The graph's product may have an additional factor; a MUL of operand a applies it.
Status TfliteLowering::matmul() {
  THIMBLE_TRY(const float a_scale, operand_scale(0, ir::attr::a_zp));
  THIMBLE_TRY(const float b_scale, operand_scale(1, ir::attr::b_zp));
  THIMBLE_TRY(const float y_scale, result_scale());
  if (shape(0).size() < 2 || shape(1).size() < 2) return refuse("an operand of one dimension");
  const int64_t far = shape(0).back() * 255 * 255;
  const RequantizeFn ours = make_requantize_fn(multiplier(), bounds(), single_rounding());
  const auto same = [&](float scale) {
    const auto theirs = litert_multiplier(one_for_all(scale, b_scale, y_scale));
    return far <= INT32_MAX && numerics::shift_in_range(theirs.shift) &&
           same_requantization(ours, make_requantize_fn(theirs, bounds()), -far, far);
  };
  int a = logical(0);
  if (!same(a_scale)) {
    const double real = std::ldexp(static_cast<double>(multiplier().mult), multiplier().shift - 31);
    const auto wanted =
        static_cast<float>(real * static_cast<double>(y_scale) / static_cast<double>(b_scale));
    std::optional<float> found;
    for (int i = 0; wanted > 0 && !found && i <= 2 * kNeighbours; ++i) {
      const float near = float_steps_from(wanted, alternate(i));
      if (same(near)) found = near;
    }
    if (!found)
      return refuse("BATCH_MATMUL's multiplier, computed from the scales, gives other results");
    a = scaled(a, *found);
  }
  const bool transpose = get(ir::attr::transpose_b) != 0;
  const int made = emit(Op::kBatchMatMul, formats::tflite::MatMulOptions{transpose},
                        {a, logical(1)}, make_result(result_shape()));
  return put(activation(y_scale) == formats::tflite::Activation::kNone ? made : clamped(made));
}

}  // namespace thimble::interchange
