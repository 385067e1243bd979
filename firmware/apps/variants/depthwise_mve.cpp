// SPDX-License-Identifier: Apache-2.0
// Depthwise convolutions packed for Helium: windows of nine taps and of others, padding on every
// side, channels that end within a vector, and several pixels in one vector.

#include "abi/params/window.h"
#include "firmware/apps/variants/case.h"

#include "abi/depthwise_mve.h"

namespace thimble::firmware {
namespace {

struct Axis {
  int32_t in, out, kernel, stride, dilation, pad;
};

Axis axis(Case& c, int32_t kernel) {
  Axis a = {};
  a.kernel = kernel;
  a.stride = c.one_of({1, 1, 1, 2, 2, 3});
  a.dilation = c.one_of({1, 1, 1, 2, 3});
  const int32_t reach = (kernel - 1) * a.dilation;
  a.pad = c.uniform(0, reach);
  const int32_t after = c.uniform(0, reach);
  a.in = c.uniform(1, 9);
  if (a.in + a.pad + after <= reach) a.in = reach + 1;
  a.out = (a.in + a.pad + after - reach - 1) / a.stride + 1;
  return a;
}

abi::WindowGeometry* geometry(Case& c, const Axis& h, const Axis& w, int32_t channels) {
  auto* g = c.input<abi::WindowGeometry>(1);
  *g = {};
  g->in_h = static_cast<uint16_t>(h.in);
  g->in_w = static_cast<uint16_t>(w.in);
  g->out_h = static_cast<uint16_t>(h.out);
  g->out_w = static_cast<uint16_t>(w.out);
  g->in_c = g->out_c = static_cast<uint16_t>(channels);
  g->kernel_h = static_cast<uint8_t>(h.kernel);
  g->kernel_w = static_cast<uint8_t>(w.kernel);
  g->stride_h = static_cast<uint8_t>(h.stride);
  g->stride_w = static_cast<uint8_t>(w.stride);
  g->dilation_h = static_cast<uint8_t>(h.dilation);
  g->dilation_w = static_cast<uint8_t>(w.dilation);
  g->pad_top = static_cast<uint8_t>(h.pad);
  g->pad_left = static_cast<uint8_t>(w.pad);
  g->x_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  g->y_zero_point = static_cast<int16_t>(c.uniform(-128, 127));
  const bool clamps = c.uniform(0, 3) == 0;
  g->min = static_cast<int16_t>(clamps ? c.uniform(-128, 0) : -128);
  g->max = static_cast<int16_t>(clamps ? c.uniform(0, 127) : 127);
  if (c.uniform(0, 2) == 0) {
    // Same bounds as after a ReLU.
    g->y_zero_point = g->min = -128;
    g->max = 127;
  }
  return g;
}

void fill_block(Case& c, const abi::WindowGeometry& g, int8_t* block) {
  const int32_t taps = g.kernel_h * g.kernel_w;
  constexpr int32_t kLanes = abi::kDepthwiseLanes;
  auto* bias = reinterpret_cast<int32_t*>(block);
  int8_t* weights = block + 4 * kLanes;
  int8_t* shifts = weights + abi::depthwise_taps(taps) * kLanes;
  auto* mults = reinterpret_cast<int32_t*>(shifts + kLanes);
  const bool extreme = c.uniform(0, 7) == 0;
  for (int32_t i = 0; i < kLanes; ++i) {
    bias[i] = c.uniform(-30000, 30000);
    shifts[i] = static_cast<int8_t>(c.one_of({-1, -3, -5, -7, -8, -9, -10, -11, -12, -20, -31}));
    mults[i] = c.uniform(1 << 30, INT32_MAX);
  }
  for (int32_t i = 0; i < abi::depthwise_taps(taps) * kLanes; ++i) {
    // The second of two taps must not be -128.
    const bool first = taps == 9 ? i / kLanes % 2 == 0 && i / kLanes < 8 : i / kLanes % 2 == 0;
    if (extreme) weights[i] = first ? -128 : c.uniform(0, 1) == 0 ? -127 : 127;
    if (!first && weights[i] == -128) weights[i] = 127;
    if (i >= taps * kLanes) weights[i] = 0;
  }
}

}  // namespace

void make_depthwise_mve(uint32_t index, Case& c) {
  const int32_t kernels[][2] = {{3, 3}, {3, 3}, {3, 3}, {5, 5}, {1, 9}, {9, 1},
                                {1, 3}, {2, 2}, {1, 1}, {7, 7}, {4, 3}};
  const auto& kernel = kernels[index % (sizeof kernels / sizeof kernels[0])];
  const Axis h = axis(c, kernel[0]);
  const Axis w = axis(c, kernel[1]);
  const int32_t channels = c.one_of({4, 8, 8, 12, 16, 16, 20, 24, 32, 36, 48, 64});
  auto* x = c.input<int8_t>(h.in * w.in * channels);
  if (c.uniform(0, 7) == 0) {
    for (int32_t i = 0; i < h.in * w.in * channels; ++i) x[i] = -128;
  }
  const abi::WindowGeometry& g = *geometry(c, h, w, channels);
  const int32_t taps = kernel[0] * kernel[1];
  const int32_t bytes = (64 + abi::depthwise_taps(taps) * 16 + 16 + 64);
  const int32_t blocks = (channels + 15) / 16;
  auto* packed = c.input<int8_t>(blocks * bytes);
  for (int32_t b = 0; b < blocks; ++b) fill_block(c, g, packed + b * bytes);
  if (channels == 4 || channels == 8) {
    // Lanes that repeat a channel must have the same parameters.
    const auto same = [channels](int32_t lane) { return lane % channels; };
    const auto place = [](int32_t lane) {
      return static_cast<int32_t>(abi::depthwise_lane_position(static_cast<uint32_t>(lane)));
    };
    auto* words = reinterpret_cast<int32_t*>(packed);
    auto* mults = reinterpret_cast<int32_t*>(packed + bytes - 64);
    int8_t* shifts = packed + bytes - 80;
    for (int32_t lane = channels; lane < 16; ++lane) {
      words[place(lane)] = words[place(same(lane))];
      mults[place(lane)] = mults[place(same(lane))];
      shifts[place(lane)] = shifts[place(same(lane))];
      for (int32_t t = 0; t < taps; ++t)
        packed[64 + 16 * t + lane] = packed[64 + 16 * t + same(lane)];
    }
  }
  c.scratch(abi::depthwise_scratch_bytes(g));
  c.output(h.out * w.out * channels);
  c.text() << kernel[0] << "x" << kernel[1] << " x " << h.in << "x" << w.in << "x" << channels
           << " y " << h.out << "x" << w.out << " stride " << h.stride << "," << w.stride << " pad "
           << h.pad << "," << w.pad << " dilation " << h.dilation << "," << w.dilation;
}

}  // namespace thimble::firmware
