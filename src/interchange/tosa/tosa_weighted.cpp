// SPDX-License-Identifier: Apache-2.0
// Convolutions, linear layers and matrix products. TOSA's operators compute the sums; RESCALE
// requantizes them. TOSA's images are [N, H, W, C], its weights [O, H, W, I].

#include <algorithm>

#include "interchange/tosa/tosa_extent.h"
#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using formats::tosa::ConvAttr;
using ir::DimOrder;
using ir::Shape;

/// Returns entries start .. start + count of the bias, or zeros: int32, or int48 for int16
/// activations.
int TosaLowering::bias_part(int64_t start, int64_t count) {
  const auto bytes_each = static_cast<size_t>(wide() ? 6 : 4);
  Bytes bytes(static_cast<size_t>(count) * bytes_each);
  if (has(2)) {
    const ir::Tensor& bias = *graph_.value(operand(2)).constant;
    const size_t stride = ir::dtype_bytes(bias.dtype);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const size_t from = (static_cast<size_t>(start) + i) * stride;
      for (size_t k = 0; k < bytes_each; ++k) bytes[i * bytes_each + k] = bias.bytes[from + k];
    }
  }
  return b_.constant(sums_type(), {count}, std::move(bytes));
}

/// Requantizes the sums of channels start .. start + count; channels are the last dimension.
Result<int> TosaLowering::requantize_channels(int acc, int64_t start, int64_t count) {
  if (is_float()) return acc;
  THIMBLE_TRY(const ir::Tensor* mults, constant_content(3));
  THIMBLE_TRY(const ir::Tensor* shifts, constant_content(4));
  const auto mult = mults->data<int32_t>(), shift = shifts->data<int32_t>();
  std::vector<Multiplier> multipliers;
  for (int64_t o = start; o < start + count; ++o) {
    const size_t entry = mult.size() > 1 ? static_cast<size_t>(o) : 0;
    multipliers.push_back({mult[entry], shift[entry]});
    if (mult.size() == 1) break;
  }
  return requantized(acc, multipliers, wide());
}

Status TosaLowering::convolution() {
  THIMBLE_TRY(const ir::Tensor* weights, constant_content(1));
  if (has(2)) THIMBLE_CHECK(check_constant(2));
  const Shape& w = weights->shape;
  const auto& padding = get(ir::attr::padding);
  const auto& stride = get(ir::attr::stride);
  const auto& dilation = get(ir::attr::dilation);
  const int64_t groups = get(ir::attr::groups);
  const Extent rows =
      exact_extent(shape(0)[2], padding[0], padding[2], (w[2] - 1) * dilation[0] + 1, stride[0]);
  const Extent columns =
      exact_extent(shape(0)[3], padding[1], padding[3], (w[3] - 1) * dilation[1] + 1, stride[1]);
  const int64_t batch = shape(0)[0], channels = shape(0)[1];
  int x = image(0);
  x = b_.slice(x, {0, 0, 0, 0}, {batch, rows.size, columns.size, channels});
  const ConvAttr attr{ints({rows.before, rows.after, columns.before, columns.after}), ints(stride),
                      ints(dilation), sums_type()};
  const int x_zero = zero_constant(zero_point(ir::attr::x_zp));
  const int w_zero = is_float() ? x_zero : b_.constants8({1}, {0});
  Shape out = {batch, rows.out, columns.out, w[0]};
  const auto depthwise = groups == channels && w[1] == 1 && groups > 1;
  if (depthwise || groups == 1) {
    int kernel = operand_in(1, {0, 2, 3, 1});
    if (depthwise) {
      kernel = b_.constant(tosa_type(weights->dtype), {w[2], w[3], channels, w[0] / channels},
                           ir::to_memory(*weights, {2, 3, 0, 1}));
    }
    const Op kind = depthwise ? Op::kDepthwiseConv2d : Op::kConv2d;
    const int acc =
        b_.emit(kind, attr, {x, kernel, bias_part(0, w[0]), x_zero, w_zero}, attr.accumulator, out);
    THIMBLE_TRY(const int y, requantize_channels(acc, 0, w[0]));
    return put(y, Layouts::image());
  }
  const int64_t in_each = channels / groups, out_each = w[0] / groups;
  out[3] = out_each;
  std::vector<int> parts;
  const int all = operand_in(1, {0, 2, 3, 1});
  for (int64_t g = 0; g < groups; ++g) {
    const int part = b_.part(x, 3, g * in_each, in_each);
    const int kernel = b_.part(all, 0, g * out_each, out_each);
    const int acc = b_.emit(Op::kConv2d, attr,
                            {part, kernel, bias_part(g * out_each, out_each), x_zero, w_zero},
                            attr.accumulator, out);
    THIMBLE_TRY(const int y, requantize_channels(acc, g * out_each, out_each));
    parts.push_back(y);
  }
  return put(b_.concat(parts, 3), Layouts::image());
}

namespace {

/// Converts the weights [I, O, kh, kw] of one group to TOSA's order [O, H, W, I]. Inserts zeros
/// between the taps of a dilated kernel.
Bytes dilated_weights(const ir::Tensor& w, int64_t first, int64_t count, int64_t dilation_h,
                      int64_t dilation_w) {
  const int64_t outs = w.shape[1], kh = w.shape[2], kw = w.shape[3];
  const int64_t rows = (kh - 1) * dilation_h + 1, columns = (kw - 1) * dilation_w + 1;
  const size_t each = ir::dtype_bytes(w.dtype);
  Bytes bytes(static_cast<size_t>(outs * rows * columns * count) * each);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t o = 0; o < outs; ++o) {
      for (int64_t tap = 0; tap < kh * kw; ++tap) {
        const int64_t row = tap / kw * dilation_h, column = tap % kw * dilation_w;
        const int64_t to = ((o * rows + row) * columns + column) * count + i;
        const int64_t from = ((first + i) * outs + o) * kh * kw + tap;
        std::copy_n(w.bytes.begin() + from * static_cast<int64_t>(each), each,
                    bytes.begin() + to * static_cast<int64_t>(each));
      }
    }
  }
  return bytes;
}

}  // namespace

Status TosaLowering::transposed_convolution() {
  THIMBLE_TRY(const ir::Tensor* weights, constant_content(1));
  if (has(2)) THIMBLE_CHECK(check_constant(2));
  const Shape& w = weights->shape;
  const auto& padding = get(ir::attr::padding);
  const auto& more = get(ir::attr::output_padding);
  const auto& dilation = get(ir::attr::dilation);
  const int64_t groups = get(ir::attr::groups);
  const int64_t in_each = w[0] / groups;
  const Shape kernel = {w[1], (w[2] - 1) * dilation[0] + 1, (w[3] - 1) * dilation[1] + 1, in_each};
  // TOSA limits the cut at each end to less than the kernel size: SLICE removes the rest.
  const auto cut = [](int64_t pad, int64_t extent) { return std::min(pad, extent - 1); };
  const int64_t top = cut(padding[0], kernel[1]), left = cut(padding[1], kernel[2]);
  const int64_t bottom = cut(padding[2], kernel[1]), right = cut(padding[3], kernel[2]);
  const formats::tosa::TransposeConvAttr attr{
      ints({-top, more[0] - bottom, -left, more[1] - right}), ints(get(ir::attr::stride)),
      sums_type()};
  const Shape& y = result_shape();
  const Shape full = {y[0], y[2] + padding[0] - top + padding[2] - bottom,
                      y[3] + padding[1] - left + padding[3] - right, w[1]};
  const int x_zero = zero_constant(zero_point(ir::attr::x_zp));
  const int w_zero = is_float() ? x_zero : b_.constants8({1}, {0});
  const int x = image(0);
  std::vector<int> parts;
  for (int64_t g = 0; g < groups; ++g) {
    const int part = b_.part(x, 3, g * in_each, in_each);
    const int taps =
        b_.constant(tosa_type(weights->dtype), kernel,
                    dilated_weights(*weights, g * in_each, in_each, dilation[0], dilation[1]));
    const int acc =
        b_.emit(Op::kTransposeConv2d, attr, {part, taps, bias_part(g * w[1], w[1]), x_zero, w_zero},
                attr.accumulator, full);
    THIMBLE_TRY(const int y_part, requantize_channels(acc, g * w[1], w[1]));
    parts.push_back(y_part);
  }
  const int all = b_.slice(b_.concat(parts, 3), {0, padding[0] - top, padding[1] - left, 0},
                           {y[0], y[2], y[3], y[1]});
  return put(all, Layouts::image());
}

Status TosaLowering::linear() {
  THIMBLE_TRY(const ir::Tensor* weights, constant_content(1));
  if (has(2)) THIMBLE_CHECK(check_constant(2));
  const int64_t out = weights->shape[0], in = weights->shape[1];
  const int64_t rows = ir::element_count(shape(0)) / in;
  const int x = b_.reshape(logical(0), {rows, 1, 1, in});
  const int kernel = b_.constant(tosa_type(weights->dtype), {out, 1, 1, in}, weights->bytes);
  const int x_zero = zero_constant(zero_point(ir::attr::x_zp));
  const int w_zero = is_float() ? x_zero : b_.constants8({1}, {0});
  const ConvAttr attr{{0, 0, 0, 0}, {1, 1}, {1, 1}, sums_type()};
  const int acc = b_.emit(Op::kConv2d, attr, {x, kernel, bias_part(0, out), x_zero, w_zero},
                          attr.accumulator, {rows, 1, 1, out});
  THIMBLE_TRY(const int y, requantize_channels(acc, 0, out));
  return put(b_.reshape(y, result_shape()));
}

Status TosaLowering::matmul() {
  const Shape& y = result_shape();
  const size_t rank = y.size();
  Shape batch(y.begin(), y.end() - 2);
  const int64_t count = ir::element_count(batch);
  // Reshapes operand i to [count, rows, columns], broadcast to the result's leading dimensions.
  const auto flat = [&](size_t i) {
    const Shape& s = shape(i);
    int t = b_.reshape(logical(i), with_rank(s, rank));
    Shape wanted = batch;
    wanted.insert(wanted.end(), s.end() - 2, s.end());
    t = b_.tile(t, wanted);
    return b_.reshape(t, {count, s[s.size() - 2], s[s.size() - 1]});
  };
  if (shape(0).size() < 2 || shape(1).size() < 2) return refuse("an operand of one dimension");
  const int a = flat(0);
  int b = flat(1);
  if (get(ir::attr::transpose_b) != 0) b = b_.transpose(b, {0, 2, 1});
  const int acc = b_.emit(
      Op::kMatMul, {},
      {a, b, zero_constant(zero_point(ir::attr::a_zp)), zero_constant(zero_point(ir::attr::b_zp))},
      sums_type(), {count, b_.shape(a)[1], b_.shape(b)[2]});
  if (is_float()) return put(b_.reshape(b_.times_float(acc, get(ir::attr::scale)), y));
  return put(b_.reshape(requantized(acc, {multiplier()}, wide()), y));
}

}  // namespace thimble::interchange
