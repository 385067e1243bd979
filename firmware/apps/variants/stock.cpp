// SPDX-License-Identifier: Apache-2.0
// Stock operators: the variants that read weights in the order of the file, and those that run the
// loops of packed operators. Cases include those which only the portable body supports: little
// scratch, shifts to the left, groups, few channels.

#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

using kernels::DType;

void image(Case& c, int32_t n, int32_t h, int32_t w, int32_t channels, bool nhwc) {
  const int32_t last[] = {n, h, w, channels};
  const int32_t second[] = {n, channels, h, w};
  c.shape(DType::kI8, nhwc ? last : second, 4);
  if (!nhwc) c.channels_last();
}

struct Axis {
  int32_t in, kernel, stride, pad, dilation, out;
};

Axis make_axis(Case& c, int32_t kernel) {
  Axis axis = {};
  axis.kernel = kernel;
  axis.stride = c.uniform(1, 2);
  axis.pad = c.uniform(0, kernel - 1);
  axis.dilation = c.uniform(0, 7) == 0 ? c.uniform(2, 3) : 1;
  const int32_t reach = (kernel - 1) * axis.dilation + 1;
  const int32_t least = reach - 2 * axis.pad > 1 ? reach - 2 * axis.pad : 1;
  axis.in = c.uniform(least, least + 6);
  axis.out = (axis.in + 2 * axis.pad - reach) / axis.stride + 1;
  return axis;
}

/// Adds multipliers and shifts of each channel.
void scales(Case& c, int32_t channels) {
  auto* const mult = c.input<int32_t>(channels);
  for (int32_t o = 0; o < channels; ++o) mult[o] = c.uniform(1 << 30, INT32_MAX);
  c.shape(DType::kI32, &channels, 1);
  c.constant();
  auto* const shift = c.input<int32_t>(channels);
  const int32_t most = c.one_of({-4, -2, -2, -1, 0, 1});
  for (int32_t o = 0; o < channels; ++o) shift[o] = c.uniform(-14, most);
  c.shape(DType::kI32, &channels, 1);
  c.constant();
}

void bias(Case& c, int32_t channels) {
  if (c.uniform(0, 5) == 0) {
    c.null();
    return;
  }
  auto* const values = c.input<int32_t>(channels);
  const bool large = c.uniform(0, 9) == 0;
  for (int32_t o = 0; o < channels; ++o) {
    values[o] = large ? static_cast<int32_t>(c.next()) : c.uniform(-40000, 40000);
  }
  c.shape(DType::kI32, &channels, 1);
  c.constant();
}

int32_t make_zero_point(Case& c) {
  return c.uniform(0, 2) == 0 ? -128 : c.uniform(-128, 127);
}

void bounds(Case& c) {
  const bool tight = c.uniform(0, 2) == 0;
  c.number(tight ? c.uniform(-128, 0) : -128);
  c.number(tight ? c.uniform(0, 127) : 127);
}

void random_weights(int8_t* w, int32_t count, Case& c) {
  if (c.uniform(0, 4) == 0) return;  // also -128
  for (int32_t i = 0; i < count; ++i) w[i] = w[i] == -128 ? int8_t{127} : w[i];
}

void make_convolution(Case& c, bool depthwise, bool nhwc) {
  const bool many = c.uniform(0, 9) == 0;
  const int32_t size = c.one_of({1, 1, 2, 3, 3, 3, 5});
  const bool nine = depthwise && size == 3;
  const Axis down = make_axis(c, many ? 1 : size);
  const Axis across = make_axis(c, many ? 1 : nine ? 3 : c.uniform(1, size));
  const int32_t batch = c.uniform(0, 4) == 0 ? 2 : 1;
  const bool grouped = !depthwise && c.uniform(0, 9) == 0;
  int32_t in_c = c.one_of({1, 3, 4, 7, 8, 12, 16, 17, 20, 24, 33, 40});
  if (grouped) in_c = 2 * c.uniform(1, 6);
  const int32_t multiplier = depthwise && c.uniform(0, 9) == 0 ? 2 : 1;
  int32_t out_c = many ? c.uniform(60, 140) : c.uniform(1, 21);
  if (depthwise) out_c = in_c * multiplier;
  if (grouped) out_c = 2 * ((out_c + 1) / 2);
  const int32_t group_c = grouped ? in_c / 2 : in_c;
  c.input<int8_t>(batch * down.in * across.in * in_c);
  image(c, batch, down.in, across.in, in_c, nhwc);
  const int32_t weights[] = {depthwise ? 1 : out_c, down.kernel, across.kernel,
                             depthwise ? out_c : group_c};
  const int32_t count = weights[0] * weights[1] * weights[2] * weights[3];
  random_weights(c.input<int8_t>(count), count, c);
  c.shape(DType::kI8, weights, 4);
  c.constant();
  bias(c, out_c);
  c.list(down.stride, across.stride);
  c.list(down.pad, across.pad);
  c.list(down.dilation, across.dilation);
  if (depthwise) c.number(multiplier);
  c.number(-make_zero_point(c));
  c.number(make_zero_point(c));
  scales(c, out_c);
  bounds(c);
  // CMSIS-NN's scratch for Helium and for the DSP extension, other sizes, or very little.
  const int32_t depth = down.kernel * across.kernel * group_c;
  const int32_t planned = depthwise ? 4 * 124 * down.kernel * across.kernel : 4 * depth;
  const int32_t scratch =
      c.uniform(0, 3) != 0 ? planned : c.one_of({1, 40, 300, 500, 2 * depth, 4000});
  c.scratch(scratch);
  c.shape(DType::kI8, &scratch, 1);
  c.output(batch * down.out * across.out * out_c);
  image(c, batch, down.out, across.out, out_c, nhwc);
  c.text() << batch << "x" << down.in << "x" << across.in << "x" << in_c << " to " << out_c
           << ", kernel " << down.kernel << "x" << across.kernel << " stride " << down.stride << "x"
           << across.stride << " pad " << down.pad << "x" << across.pad << " dilation "
           << down.dilation << "x" << across.dilation << " scratch " << scratch;
}

}  // namespace

void make_stock_conv2d(uint32_t, Case& c) {
  make_convolution(c, false, false);
}
void make_stock_conv2d_nhwc(uint32_t, Case& c) {
  make_convolution(c, false, true);
}
void make_stock_depthwise(uint32_t, Case& c) {
  make_convolution(c, true, false);
}
void make_stock_depthwise_nhwc(uint32_t, Case& c) {
  make_convolution(c, true, true);
}

void make_stock_linear(uint32_t, Case& c) {
  const int32_t rows = c.one_of({1, 1, 1, 2, 3, 7});
  const int32_t in = c.one_of({1, 5, 8, 16, 20, 33, 64, 100});
  const int32_t out = c.uniform(0, 4) == 0 ? c.uniform(60, 140) : c.uniform(1, 21);
  const int32_t x_sizes[] = {rows, in};
  const int32_t w_sizes[] = {out, in};
  const int32_t y_sizes[] = {rows, out};
  c.input<int8_t>(rows * in);
  c.shape(DType::kI8, x_sizes, 2);
  random_weights(c.input<int8_t>(out * in), out * in, c);
  c.shape(DType::kI8, w_sizes, 2);
  c.constant();
  const bool has_sums = c.uniform(0, 1) == 0;
  if (has_sums) c.null();
  bias(c, out);
  if (!has_sums) c.null();
  c.number(-make_zero_point(c));
  c.number(0);
  c.number(make_zero_point(c));
  const bool each = c.uniform(0, 1) == 0 && out <= static_cast<int32_t>(abi::kMaxIntList);
  static int32_t mults[abi::kMaxIntList];
  static int32_t shifts[abi::kMaxIntList];
  const int32_t most = c.one_of({-4, -2, -1, 0});
  for (uint32_t i = 0; i < abi::kMaxIntList; ++i) {
    mults[i] = c.uniform(1 << 30, INT32_MAX);
    shifts[i] = c.uniform(-12, most);
  }
  c.list_of(mults, each ? static_cast<uint32_t>(out) : 1);
  c.list_of(shifts, each ? static_cast<uint32_t>(out) : 1);
  const bool tight = c.uniform(0, 2) == 0;
  c.number(tight ? c.uniform(0, 127) : 127);
  c.number(tight ? c.uniform(-128, 0) : -128);
  c.output(rows * out);
  c.shape(DType::kI8, y_sizes, 2);
  c.text() << rows << " rows, " << in << " to " << out << (each ? ", a scale each" : "");
}

namespace {

/// Adds an operand of an elementwise operator; dimensions of size 1 are repeated.
void elementwise_operand(Case& c, const int32_t (&sizes)[4], bool repeats) {
  const int32_t kept[4] = {sizes[0], sizes[1], repeats ? 1 : sizes[2], repeats ? 1 : sizes[3]};
  c.input<int8_t>(kept[0] * kept[1] * kept[2] * kept[3]);
  c.shape(DType::kI8, kept, 4);
  c.channels_last();
}

}  // namespace

void make_stock_add(uint32_t, Case& c) {
  const int32_t sizes[4] = {1, c.uniform(1, 20), c.uniform(1, 6), c.uniform(1, 6)};
  const bool repeats = c.uniform(0, 7) == 0;
  const int32_t which = c.uniform(0, 3);  // 0, 1: a or b has the larger scale; 2: both; 3: none
  const auto factor = [&](int32_t operand) {
    const bool half = which == operand || which == 2;
    const int32_t mult = half ? 1 << 30 : c.uniform(1 << 30, INT32_MAX);
    c.number(c.uniform(0, 5) == 0 ? -mult : mult);
    c.number(half ? 0 : c.one_of({0, -1, -2, -7, -31}));
  };
  elementwise_operand(c, sizes, false);
  c.number(c.uniform(-128, 127));
  factor(0);
  elementwise_operand(c, sizes, repeats);
  c.number(c.uniform(-128, 127));
  factor(1);
  c.number(make_zero_point(c));
  c.number(c.uniform(1 << 30, INT32_MAX));
  c.number(c.one_of({0, -1, -16, -18, -18, -19, -20, -31}));
  bounds(c);
  c.output(sizes[1] * sizes[2] * sizes[3]);
  c.shape(DType::kI8, sizes, 4);
  c.channels_last();
  c.text() << sizes[1] << "x" << sizes[2] << "x" << sizes[3] << " form " << which;
}

void make_stock_mul(uint32_t, Case& c) {
  const int32_t sizes[4] = {1, c.uniform(1, 20), c.uniform(1, 6), c.uniform(1, 6)};
  elementwise_operand(c, sizes, false);
  c.number(c.uniform(-128, 127));
  elementwise_operand(c, sizes, c.uniform(0, 1) == 0);
  c.number(c.uniform(-128, 127));
  c.number(make_zero_point(c));
  c.number(c.uniform(1 << 30, INT32_MAX));
  c.number(c.uniform(-12, 1));
  c.output(sizes[1] * sizes[2] * sizes[3]);
  c.shape(DType::kI8, sizes, 4);
  c.channels_last();
  c.text() << sizes[1] << "x" << sizes[2] << "x" << sizes[3];
}

namespace {

void make_pool(Case& c, bool average, bool nhwc) {
  Axis down = make_axis(c, c.uniform(1, 4));
  Axis across = make_axis(c, c.uniform(1, 4));
  Axis* const both[] = {&down, &across};
  for (Axis* axis : both) {
    axis->pad = 0;
    if (average) axis->dilation = 1;
    axis->in += (axis->kernel - 1) * axis->dilation;
    axis->out = (axis->in - (axis->kernel - 1) * axis->dilation - 1) / axis->stride + 1;
  }
  const int32_t channels = c.uniform(1, 40);
  c.input<int8_t>(down.in * across.in * channels);
  image(c, 1, down.in, across.in, channels, nhwc);
  c.list(down.kernel, across.kernel);
  c.list(down.stride, across.stride);
  c.list(0, 0);
  if (average) {
    c.number(0);
    c.number(0);
    c.number(1 << 30);
    c.number(1);
    const int32_t scratch = 4 * channels;
    c.scratch(scratch);
    c.shape(DType::kI8, &scratch, 1);
  } else {
    c.list(down.dilation, across.dilation);
    c.number(0);
    c.number(0);
    c.number(0);
    bounds(c);
  }
  c.output(down.out * across.out * channels);
  image(c, 1, down.out, across.out, channels, nhwc);
  c.text() << down.in << "x" << across.in << "x" << channels << ", kernel " << down.kernel << "x"
           << across.kernel;
}

}  // namespace

void make_stock_avg_pool(uint32_t, Case& c) {
  make_pool(c, true, false);
}
void make_stock_avg_pool_nhwc(uint32_t, Case& c) {
  make_pool(c, true, true);
}
void make_stock_max_pool(uint32_t, Case& c) {
  make_pool(c, false, false);
}
void make_stock_max_pool_nhwc(uint32_t, Case& c) {
  make_pool(c, false, true);
}

void make_stock_batch_matmul(uint32_t, Case& c) {
  const int32_t a[] = {c.uniform(1, 3), c.uniform(1, 6), c.one_of({1, 5, 16, 20, 40})};
  const int32_t b[] = {a[0], c.uniform(1, 9), a[2]};
  const int32_t y[] = {a[0], a[1], b[1]};
  c.input<int8_t>(a[0] * a[1] * a[2]);
  c.shape(DType::kI8, a, 3);
  c.number(-make_zero_point(c));
  c.input<int8_t>(b[0] * b[1] * b[2]);
  c.shape(DType::kI8, b, 3);
  c.number(-make_zero_point(c));
  c.number(make_zero_point(c));
  c.number(c.uniform(1 << 30, INT32_MAX));
  c.number(c.uniform(-12, 1));
  const int32_t scratch = 4;
  c.scratch(scratch);
  c.shape(DType::kI8, &scratch, 1);
  c.output(y[0] * y[1] * y[2]);
  c.shape(DType::kI8, y, 3);
  c.text() << a[0] << "x" << a[1] << "x" << a[2] << " by " << b[1];
}

void make_stock_softmax(uint32_t, Case& c) {
  const int32_t sizes[] = {c.uniform(1, 4), c.uniform(1, 40)};
  auto* const x = c.input<int8_t>(sizes[0] * sizes[1]);
  if (c.uniform(0, 1) == 0) {  // similar values
    for (int32_t i = 0; i < sizes[0] * sizes[1]; ++i) x[i] = static_cast<int8_t>(x[i] / 8);
  }
  c.shape(DType::kI8, sizes, 2);
  c.number(1);
  c.number(0);
  c.number(-128);
  c.number(c.uniform(1 << 30, INT32_MAX));
  const int32_t shift = c.uniform(16, 26);
  c.number(shift);
  c.number(-static_cast<int32_t>((int64_t{31} << 26) >> shift));
  c.output(sizes[0] * sizes[1]);
  c.shape(DType::kI8, sizes, 2);
  c.text() << sizes[0] << "x" << sizes[1] << " shift " << shift;
}

}  // namespace thimble::firmware
