// SPDX-License-Identifier: Apache-2.0
// conv2d_scalar, depthwise_scalar and linear_scalar on cores with and without Thumb-2.

#include "abi/matmul_scalar.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

constexpr auto kRecord = static_cast<int32_t>(sizeof(abi::ScalarChannel));

/// Channel records as the compiler writes them, for which no sum of `taps` products overflows.
void fill_channels(Case& c, abi::ScalarChannel* channels, int32_t count, int32_t y_zero_point) {
  for (int32_t o = 0; o < count; ++o) {
    abi::ScalarChannel& channel = channels[o];
    const int32_t limit = c.uniform(0, 3) == 0 ? 1 << 28 : 1 << 15;
    channel.bias = c.uniform(-limit, limit);
    channel.mult = c.uniform(0, 9) == 0 ? 0 : c.uniform(1 << 30, INT32_MAX);
    channel.shift = c.uniform(0, 3) == 0 ? c.uniform(1, abi::kScalarShiftMax) : c.uniform(6, 11);
    channel.round = (2 * y_zero_point + 1) * (1 << (channel.shift - 1));
  }
}

struct Codes {
  int16_t x_zero_point, y_zero_point, min, max;
};
Codes make_codes(Case& c) {
  Codes codes;
  codes.x_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  codes.y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  const bool full = c.uniform(0, 2) != 0;
  codes.min = static_cast<int16_t>(full ? -128 : c.uniform(-128, 0));
  codes.max = static_cast<int16_t>(full ? 127 : c.uniform(0, 127));
  return codes;
}

void put_codes(Case& c, int8_t* weights, int32_t rows, int32_t length, int32_t row) {
  for (int32_t i = 0; i < rows; ++i) {
    for (int32_t k = 0; k < row; ++k) {
      weights[i * row + k] = static_cast<int8_t>(k < length ? c.uniform(-127 - k % 2, 127) : 0);
    }
  }
}

struct Axis {
  int32_t in, out, kernel, stride, dilation, pad;
};
Axis make_axis(Case& c, bool pointwise) {
  Axis axis;
  axis.kernel = pointwise ? 1 : c.uniform(1, 4);
  axis.stride = c.uniform(1, 3);
  axis.dilation = c.uniform(0, 4) == 0 ? 2 : 1;
  const int32_t reach = (axis.kernel - 1) * axis.dilation;
  axis.pad = c.uniform(0, reach);
  axis.out = c.uniform(1, 6);
  const int32_t covered = (axis.out - 1) * axis.stride + reach + 1 - axis.pad;
  const int32_t after = c.uniform(0, reach);
  axis.in = covered > after ? covered - after : 1;
  return axis;
}

abi::WindowGeometry put_window(Case& c, const Axis& h, const Axis& w, int32_t in_c, int32_t out_c,
                               int32_t block_pixels) {
  const Codes codes = make_codes(c);
  c.input<int8_t>(h.in * w.in * in_c);
  const auto u16 = [](int32_t value) { return static_cast<uint16_t>(value); };
  const auto u8 = [](int32_t value) { return static_cast<uint8_t>(value); };
  const abi::WindowGeometry g = {
      u16(h.in),          u16(w.in),          u16(in_c),    u16(h.out),   u16(w.out),
      u16(out_c),         u8(h.kernel),       u8(w.kernel), u8(h.stride), u8(w.stride),
      u8(h.dilation),     u8(w.dilation),     u8(h.pad),    u8(w.pad),    u16(block_pixels),
      codes.x_zero_point, codes.y_zero_point, codes.min,    codes.max,    {}};
  *c.input<abi::WindowGeometry>(1) = g;
  c.text() << "in " << h.in << "x" << w.in << "x" << in_c << " out " << h.out << "x" << w.out << "x"
           << out_c << " kernel " << h.kernel << "x" << w.kernel;
  return g;
}

}  // namespace

void make_conv2d_scalar(uint32_t, Case& c) {
  const bool pointwise = c.uniform(0, 1) == 0;
  const Axis h = make_axis(c, pointwise);
  const Axis w = make_axis(c, pointwise);
  const int32_t in_c = c.uniform(1, 20);
  const int32_t out_c = c.uniform(1, 9);
  const abi::WindowGeometry g = put_window(c, h, w, in_c, out_c, c.uniform(0, 1) * 4);
  const int32_t length = h.kernel * w.kernel * in_c;
  const auto row = static_cast<int32_t>(abi::scalar_row(length));
  int8_t* const packed = c.input<int8_t>(out_c * (kRecord + row));
  fill_channels(c, reinterpret_cast<abi::ScalarChannel*>(packed), out_c, g.y_zero_point);
  put_codes(c, packed + out_c * kRecord, out_c, length, row);
  c.scratch(static_cast<int32_t>(THIMBLE_HAS_V6M ? abi::scalar_pair_rows(g) : abi::kScalarPixels) *
            row);
  c.output(h.out * w.out * out_c);
}

void make_conv2d_scalar_int4(uint32_t, Case& c) {
  const bool pointwise = c.uniform(0, 1) == 0;
  const Axis h = make_axis(c, pointwise);
  const Axis w = make_axis(c, pointwise);
  const int32_t in_c = c.uniform(1, 20);
  const int32_t out_c = c.uniform(1, 11);
  const abi::WindowGeometry g = put_window(c, h, w, in_c, out_c, c.one_of({0, 2, 4}));
  const int32_t length = h.kernel * w.kernel * in_c;
  const auto row = static_cast<int32_t>(abi::scalar_row(length));
  // Weights are random bytes; those after the depth are 0.
  int8_t* const packed =
      c.input<int8_t>(static_cast<int32_t>(abi::scalar_int4_bytes(out_c, length)));
  fill_channels(c, reinterpret_cast<abi::ScalarChannel*>(packed), out_c, g.y_zero_point);
  int8_t* pairs = packed + out_c * kRecord;
  for (int32_t o = 0; o < out_c; o += 2, pairs += row) {
    for (int32_t k = length; k < row; ++k) pairs[k] = 0;
  }
  c.scratch(static_cast<int32_t>(abi::scalar_int4_rows(g, THIMBLE_HAS_V6M != 0)) * row);
  c.output(h.out * w.out * out_c);
}

void make_depthwise_scalar(uint32_t, Case& c) {
  Axis h = make_axis(c, false);
  Axis w = make_axis(c, false);
  if (c.uniform(0, 1) == 0) {  // the case with a code path of its own
    h = {c.uniform(2, 6), 0, 3, c.uniform(1, 2), 1, 1};
    w = {c.uniform(2, 11), 0, 3, c.uniform(1, 2), 1, 1};
    h.out = (h.in - 1) / h.stride + 1;
    w.out = (w.in - 1) / w.stride + 1;
  }
  const int32_t in_c = c.uniform(1, 9);
  const int32_t out_c = in_c * (c.uniform(0, 2) == 0 ? c.uniform(2, 3) : 1);
  const abi::WindowGeometry g = put_window(c, h, w, in_c, out_c, c.uniform(0, 1) * 4);
  const int32_t taps = h.kernel * w.kernel;
  int8_t* const packed = c.input<int8_t>(out_c * (kRecord + taps));
  fill_channels(c, reinterpret_cast<abi::ScalarChannel*>(packed), out_c, g.y_zero_point);
  put_codes(c, packed + out_c * kRecord, 1, out_c * taps, out_c * taps);
  c.scratch(static_cast<int32_t>(abi::scalar_depthwise_scratch(g)));
  c.output(h.out * w.out * out_c);
}

/// On Armv6-M half of the cases have blocks of four outputs.
void make_linear_scalar(uint32_t, Case& c) {
  const int32_t rows = c.uniform(1, 5);
  const bool blocks = THIMBLE_HAS_V6M && c.uniform(0, 1) == 0;
  const int32_t in = blocks ? 4 * c.uniform(1, 10) : c.uniform(1, 40);
  const int32_t out = blocks ? 4 * c.uniform(1, 4) : c.uniform(1, 11);
  const Codes codes = make_codes(c);
  const auto row = static_cast<int32_t>(abi::scalar_row(in));
  c.input<int8_t>(rows * in);
  *c.input<abi::LinearGeometry>(1) = {static_cast<uint32_t>(rows),
                                      static_cast<uint32_t>(in),
                                      static_cast<uint32_t>(out),
                                      codes.x_zero_point,
                                      codes.y_zero_point,
                                      codes.min,
                                      codes.max};
  int8_t* const packed = c.input<int8_t>(out * (kRecord + row));
  fill_channels(c, reinterpret_cast<abi::ScalarChannel*>(packed), out, codes.y_zero_point);
  put_codes(c, packed + out * kRecord, out, in, row);
  if (blocks) reinterpret_cast<abi::ScalarChannel*>(packed)->shift |= abi::kScalarBlocks;
  c.output(rows * out);
  c.text() << "rows " << rows << " in " << in << " out " << out;
}

void make_linear_scalar_int4(uint32_t, Case& c) {
  const int32_t rows = c.uniform(1, 5), in = c.uniform(1, 40), out = c.uniform(1, 11);
  const Codes codes = make_codes(c);
  c.input<int8_t>(rows * in);
  *c.input<abi::LinearGeometry>(1) = {static_cast<uint32_t>(rows),
                                      static_cast<uint32_t>(in),
                                      static_cast<uint32_t>(out),
                                      codes.x_zero_point,
                                      codes.y_zero_point,
                                      codes.min,
                                      codes.max};
  // Weights are random bytes.
  auto* const packed = c.input<int8_t>(static_cast<int32_t>(abi::scalar_int4_bytes(out, in)));
  fill_channels(c, reinterpret_cast<abi::ScalarChannel*>(packed), out, codes.y_zero_point);
  c.output(rows * out);
  c.text() << "rows " << rows << " in " << in << " out " << out;
}

}  // namespace thimble::firmware
