// SPDX-License-Identifier: Apache-2.0
// conv2d_mve and linear_mve: all kinds of windows, remainders of pixels, channels and depth; in
// place.

#include "kernels/isa.h"

#include <cstring>

#include "abi/matmul_mve.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "firmware/apps/variants/case.h"

namespace thimble::firmware {
namespace {

/// With 4 bits, bytes of random weights; the padding is 0.
void pack(Case& c, uint32_t channels, uint32_t depth, int bits) {
  const int64_t bytes =
      bits == 4 ? abi::matmul_int4_bytes(channels, depth) : abi::matmul_bytes(channels, depth);
  auto* const packed = c.input<int8_t>(static_cast<int32_t>(bytes));
  auto* const quads = reinterpret_cast<abi::MatmulQuad*>(packed);
  const uint32_t count = abi::matmul_quads(channels);
  int32_t least = bits == 4 ? 2 : 5;  // avoids results that are all 0 or all at the bounds
  for (uint32_t n = depth; n > 4; n /= 4) ++least;
  for (uint32_t q = 0; q < count; ++q) {
    for (uint32_t lane = 0; lane < 4; ++lane) {
      quads[q].bias[lane] >>= 16;
      quads[q].mult[lane] = static_cast<int32_t>(c.next() >> 2 | 1U << 30);
      const int32_t low = c.uniform(0, 9) == 0 ? 1 : least;
      quads[q].shift[lane] = static_cast<int8_t>(-c.uniform(low, least + 4));
    }
  }
  int8_t* const weights = packed + abi::matmul_header_bytes(count);
  std::memset(weights, 0, static_cast<size_t>(packed + bytes - weights));
  for (uint32_t channel = 0; channel < channels; ++channel) {
    for (uint32_t k = 0; k < depth; ++k) {
      if (bits == 4) {
        const uint32_t at = abi::matmul_int4_offset(channel, k, depth);
        const uint32_t nibble = (c.next() >> 9) % 16 << (channel % 4 < 2 ? 0 : 4);
        weights[at] = static_cast<int8_t>(weights[at] | static_cast<int8_t>(nibble));
        continue;
      }
      weights[abi::matmul_weight_offset(channel, k, depth)] = static_cast<int8_t>(c.next() >> 9);
    }
  }
}

template <class Geometry>
void set_bounds(Case& c, Geometry& g) {
  g.x_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.min = static_cast<int16_t>(c.uniform(0, 1) == 0 ? g.y_zero_point : c.uniform(-128, -100));
  g.max = static_cast<int16_t>(c.uniform(0, 1) == 0 ? 127 : c.uniform(g.min, 127));
}

struct Axis {
  uint16_t in, out;
  uint8_t kernel, stride, dilation, pad;
};

Axis axis(Case& c, int32_t kernel, int32_t stride, int32_t in_max) {
  const int32_t dilation = c.uniform(0, 5) == 0 ? c.uniform(1, 3) : 1;
  const int32_t reach = (kernel - 1) * dilation;
  const int32_t before = c.uniform(0, reach);
  const int32_t after = c.uniform(0, reach);
  int32_t in = c.uniform(1, in_max);
  if (in + before + after <= reach) in = reach + 1 - before;
  if (in < 1) in = 1;
  const int32_t out = (in + before + after - reach - 1) / stride + 1;
  return {static_cast<uint16_t>(in),      static_cast<uint16_t>(out),
          static_cast<uint8_t>(kernel),   static_cast<uint8_t>(stride),
          static_cast<uint8_t>(dilation), static_cast<uint8_t>(before)};
}

void make_conv2d(uint32_t index, Case& c, int bits) {
  // Half of the cases have 1x1 windows, for which the kernel has most code paths.
  const int32_t kernel_h = index % 2 == 0 ? 1 : c.uniform(1, 4);
  const int32_t kernel_w = index % 2 == 0 ? 1 : c.uniform(1, 4);
  const int32_t stride = index % 4 < 2 ? 1 : c.uniform(1, 3);
  const Axis h = axis(c, kernel_h, stride, 7);
  const Axis w = axis(c, kernel_w, stride, 9);
  const int32_t in_c = c.uniform(0, 2) == 0 ? 16 * c.uniform(1, 4) : c.uniform(1, 40);
  const int32_t out_c = c.uniform(0, 1) == 0 ? 4 * c.uniform(1, 6) : c.uniform(1, 21);
  abi::WindowGeometry g = {};
  g.in_h = h.in, g.in_w = w.in, g.in_c = static_cast<uint16_t>(in_c);
  g.out_h = h.out, g.out_w = w.out, g.out_c = static_cast<uint16_t>(out_c);
  g.kernel_h = h.kernel, g.kernel_w = w.kernel, g.stride_h = h.stride, g.stride_w = w.stride;
  g.dilation_h = h.dilation, g.dilation_w = w.dilation, g.pad_top = h.pad, g.pad_left = w.pad;
  set_bounds(c, g);
  c.input<int8_t>(g.in_h * g.in_w * in_c);
  std::memcpy(c.input<abi::WindowGeometry>(1), &g, sizeof g);
  const auto depth = static_cast<uint32_t>(kernel_h * kernel_w * in_c);
  pack(c, g.out_c, depth, bits);
  c.scratch(static_cast<int32_t>(abi::conv2d_mve_scratch_bytes(depth, depth / h.kernel)));
  c.output(g.out_h * g.out_w * out_c);
  c.text() << g.in_h << "x" << g.in_w << "x" << in_c << " to " << g.out_h << "x" << g.out_w << "x"
           << out_c << ", kernel " << kernel_h << "x" << kernel_w << ", stride " << stride
           << ", dilation " << g.dilation_h << "x" << g.dilation_w << ", pad " << g.pad_top << "x"
           << g.pad_left;
}

void make_linear(uint32_t index, Case& c, int bits) {
  const int32_t rows = index % 2 == 0 ? 1 : c.uniform(1, 9);
  const int32_t depth = c.uniform(0, 1) == 0 ? 16 * c.uniform(1, 12) : c.uniform(1, 150);
  const int32_t channels = c.uniform(0, 1) == 0 ? 8 * c.uniform(1, 4) : c.uniform(1, 40);
  abi::LinearGeometry g = {};
  g.rows = static_cast<uint32_t>(rows);
  g.in_features = static_cast<uint32_t>(depth);
  g.out_features = static_cast<uint32_t>(channels);
  set_bounds(c, g);
  c.input<int8_t>(rows * depth);
  std::memcpy(c.input<abi::LinearGeometry>(1), &g, sizeof g);
  pack(c, g.out_features, g.in_features, bits);
  c.output(rows * channels);
  c.text() << rows << " rows, " << depth << " to " << channels;
}

}  // namespace

void make_conv2d_mve(uint32_t index, Case& c) {
  make_conv2d(index, c, 8);
}
void make_conv2d_mve_int4(uint32_t index, Case& c) {
  make_conv2d(index, c, 4);
}
void make_linear_mve(uint32_t index, Case& c) {
  make_linear(index, c, 8);
}
void make_linear_mve_int4(uint32_t index, Case& c) {
  make_linear(index, c, 4);
}

}  // namespace thimble::firmware
