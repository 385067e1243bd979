// SPDX-License-Identifier: Apache-2.0
// Convolutions and linear operators packed for the DSP extension.

#include "abi/params/linear.h"
#include "abi/params/window.h"
#include "firmware/apps/variants/case.h"

#include "abi/matmul_dsp.h"

namespace thimble::firmware {
namespace {

struct Axis {
  int32_t in, out, kernel, stride, dilation, pad;
};

/// An axis whose padding is smaller than its window of at most `most` taps.
Axis random_axis(Case& c, int32_t most) {
  Axis a = {};
  do {
    a.in = c.uniform(1, 9);
    a.kernel = c.uniform(1, most);
    a.stride = c.uniform(1, 3);
    a.dilation = c.uniform(0, 3) == 0 ? 2 : 1;
    const int32_t reach = (a.kernel - 1) * a.dilation;
    a.pad = c.uniform(0, reach);
    const int32_t rest = a.in + a.pad + c.uniform(0, reach) - reach - 1;
    a.out = rest < 0 ? 0 : rest / a.stride + 1;
  } while (a.out == 0);
  return a;
}

abi::WindowGeometry geometry(Case& c, const Axis& down, const Axis& across) {
  abi::WindowGeometry g = {};
  g.in_h = static_cast<uint16_t>(down.in);
  g.in_w = static_cast<uint16_t>(across.in);
  g.out_h = static_cast<uint16_t>(down.out);
  g.out_w = static_cast<uint16_t>(across.out);
  g.kernel_h = static_cast<uint8_t>(down.kernel);
  g.kernel_w = static_cast<uint8_t>(across.kernel);
  g.stride_h = static_cast<uint8_t>(down.stride);
  g.stride_w = static_cast<uint8_t>(across.stride);
  g.dilation_h = static_cast<uint8_t>(down.dilation);
  g.dilation_w = static_cast<uint8_t>(across.dilation);
  g.pad_top = static_cast<uint8_t>(down.pad);
  g.pad_left = static_cast<uint8_t>(across.pad);
  g.x_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.min = -128;
  g.max = 127;
  if (c.uniform(0, 3) == 0) {
    g.min = static_cast<int16_t>(c.uniform(-128, 20));
    g.max = static_cast<int16_t>(c.uniform(g.min, 127));
  }
  return g;
}

void describe(Case& c, const abi::WindowGeometry& g) {
  c.text() << "in " << g.in_h << " " << g.in_w << " " << g.in_c << ", out " << g.out_h << " "
           << g.out_w << " " << g.out_c << ", window " << g.kernel_h << " " << g.kernel_w
           << ", stride " << g.stride_h << " " << g.stride_w << ", pad " << g.pad_top << " "
           << g.pad_left;
}

/// Sets scales for which a typical sum is in the int8 range. With random scales results saturate.
void put_scales(Case& c, int32_t* mult, int32_t* scale) {
  if (c.uniform(0, 7) == 0) return;
  *mult = c.uniform(0x40000000, 0x7FFFFFFF);
  *scale = 1 << c.uniform(16, 25);
}

/// Clears the padding of a filter's last four weights, which are stored in the order 0 2 1 3 in two
/// words, `step` words apart. The first `used` of them are weights; 0 means all.
void zero_fill(int32_t* words, int32_t step, int32_t used) {
  if (used == 0) return;
  if (used < 3) words[0] &= 0xFFFF;
  words[step] = used == 1 ? 0 : words[step] & 0xFFFF;
}

/// As zero_fill() for a last word of bytes 16 * b + a + 8, in the order of the depth.
void zero_fill_int4(int32_t* word, int32_t used) {
  auto* const bytes = reinterpret_cast<uint8_t*>(word);
  for (int32_t i = used; used != 0 && i < 4; ++i) bytes[i] = 8;
}

void make_conv2d(uint32_t index, Case& c, int bits) {
  constexpr int32_t kDepths[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 28, 40};
  const Axis one = {1, 1, 1, 1, 1, 0};
  const bool pointwise = index % 3 == 0;
  Axis down = pointwise ? one : random_axis(c, 3);
  Axis across = pointwise ? one : random_axis(c, 4);
  if (pointwise) {
    down.in = down.out = c.uniform(1, 4);
    across.in = across.out = c.uniform(1, 4);
  }
  abi::WindowGeometry g = geometry(c, down, across);
  g.in_c = static_cast<uint16_t>(c.one_of(kDepths));
  g.out_c = static_cast<uint16_t>(c.uniform(1, 9));
  describe(c, g);
  c.input<int8_t>(g.in_h * g.in_w * g.in_c);
  *c.input<abi::WindowGeometry>(1) = g;
  const auto bytes = static_cast<int32_t>(bits == 4 ? abi::dsp_conv_int4_weights_bytes(g)
                                                    : abi::dsp_conv_weights_bytes(g));
  const auto pair_words = static_cast<int32_t>(abi::dsp_conv_depth(g)) * bits / 16 + 6;
  int32_t* weights = c.input<int32_t>(bytes / 4);
  const int32_t used = g.kernel_h * g.kernel_w * g.in_c % 4;
  const int32_t step = bits == 4 ? 1 : 2;  // words of two pairs alternate
  for (int32_t o = 0; o < g.out_c; o += 2) {
    int32_t* const pair =
        step == 1 ? weights + o / 2 * pair_words : weights + o / 4 * 2 * pair_words + o % 4 / 2;
    pair[0] = c.uniform(-20000, 20000);
    if (bits == 4) {
      zero_fill_int4(pair + pair_words - 6, used);
    } else {
      zero_fill(pair + (pair_words - 7) * step, step, used);
    }
    int32_t* const tail = pair + (pair_words - 5) * step;
    tail[0] = c.uniform(-20000, 20000);
    put_scales(c, tail + step, tail + 2 * step);
    put_scales(c, tail + 3 * step, tail + 4 * step);
  }
  c.scratch(static_cast<int32_t>(abi::dsp_conv_scratch_bytes(g)));
  c.output(g.out_h * g.out_w * g.out_c);
}

}  // namespace

void make_conv2d_dsp(uint32_t index, Case& c) {
  make_conv2d(index, c, 8);
}
void make_conv2d_dsp_int4(uint32_t index, Case& c) {
  make_conv2d(index, c, 4);
}

void make_depthwise_dsp(uint32_t, Case& c) {
  const Axis down = random_axis(c, 5);
  const Axis across = random_axis(c, 5);
  abi::WindowGeometry g = geometry(c, down, across);
  g.in_c = g.out_c = static_cast<uint16_t>(4 * c.uniform(1, 5));
  describe(c, g);
  c.input<int8_t>(g.in_h * g.in_w * g.in_c);
  *c.input<abi::WindowGeometry>(1) = g;
  const auto bytes = static_cast<int32_t>(abi::dsp_depthwise_weights_bytes(g));
  const int32_t taps = g.kernel_h * g.kernel_w;
  const auto all_taps = static_cast<int32_t>(abi::dsp_depthwise_taps(g));
  int32_t* weights = c.input<int32_t>(bytes / 4);
  for (int32_t o = 0; o < g.out_c; o += 4) {
    for (int32_t k = 0; k < 4; ++k) *weights++ = c.uniform(-20000, 20000);
    for (int32_t k = 2 * taps; k < 2 * all_taps; ++k) weights[k] = 0;
    weights += 2 * all_taps;
    for (int32_t k = 0; k < 4; ++k, ++weights) put_scales(c, weights, weights + 4);
    weights += 4;
  }
  c.scratch(static_cast<int32_t>(abi::dsp_depthwise_scratch_bytes(g)));
  c.output(g.out_h * g.out_w * g.out_c);
}

namespace {

void make_linear(Case& c, uint32_t bits) {
  abi::LinearGeometry g = {};
  g.rows = static_cast<uint32_t>(c.uniform(1, 3));
  g.in_features = static_cast<uint32_t>(4 * c.uniform(1, 20));
  g.out_features = static_cast<uint32_t>(c.uniform(1, 11));
  g.y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g.min = -128;
  g.max = static_cast<int16_t>(c.uniform(0, 2) == 0 ? c.uniform(-128, 127) : 127);
  c.text() << "rows " << g.rows << ", in " << g.in_features << ", out " << g.out_features;
  c.input<int8_t>(static_cast<int32_t>(g.rows * g.in_features));
  *c.input<abi::LinearGeometry>(1) = g;
  const auto bytes = static_cast<int32_t>(bits == 4 ? abi::dsp_linear_int4_weights_bytes(g)
                                                    : abi::dsp_linear_weights_bytes(g));
  int32_t* weights = c.input<int32_t>(bytes / 4);
  for (uint32_t left = g.out_features; left != 0;) {
    const uint32_t pairs = left < 3 ? 1 : 2;
    int32_t* tail = weights + pairs + pairs * g.in_features * bits / 16;
    for (uint32_t pair = 0; pair < pairs; ++pair, tail += 5) {
      weights[pair] = c.uniform(-20000, 20000);
      tail[0] = c.uniform(-20000, 20000);
      put_scales(c, tail + 1, tail + 2);
      put_scales(c, tail + 3, tail + 4);
    }
    weights = tail;
    left = left < 4 ? 0 : left - 4;
  }
  c.output(static_cast<int32_t>(g.rows * g.out_features));
}

}  // namespace

void make_linear_dsp(uint32_t, Case& c) {
  make_linear(c, 8);
}
void make_linear_dsp_int4(uint32_t, Case& c) {
  make_linear(c, 4);
}

}  // namespace thimble::firmware
