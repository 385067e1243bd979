// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/depthwise_mve_case.h"

#include <algorithm>

#include "abi/depthwise_mve.h"
#include "abi/params/window.h"

namespace thimble::kernels::test {
namespace {

constexpr int32_t kLanes = abi::kDepthwiseLanes;

abi::WindowGeometry window(const ConvCase& c) {
  const auto half = [](int32_t value) { return static_cast<uint16_t>(value); };
  const auto byte = [](int32_t value) { return static_cast<uint8_t>(value); };
  const auto code = [](int32_t value) { return static_cast<int16_t>(value); };
  abi::WindowGeometry g = {};
  g.in_h = half(c.in[0]);
  g.in_w = half(c.in[1]);
  g.out_h = half(c.out[0]);
  g.out_w = half(c.out[1]);
  g.in_c = g.out_c = half(c.in_c);
  g.kernel_h = byte(c.kernel[0]);
  g.kernel_w = byte(c.kernel[1]);
  g.stride_h = byte(c.stride[0]);
  g.stride_w = byte(c.stride[1]);
  g.dilation_h = byte(c.dilation[0]);
  g.dilation_w = byte(c.dilation[1]);
  g.pad_top = byte(c.pad[0]);
  g.pad_left = byte(c.pad[1]);
  g.x_zero_point = code(-c.x_offset);
  g.y_zero_point = code(c.y_offset);
  g.min = code(c.min);
  g.max = code(c.max);
  return g;
}

template <class T>
Value constant_of(const T& value) {
  std::vector<uint8_t> bytes;
  append(bytes, &value, 1);
  return constant_bytes(bytes);
}

void append_block(const ConvCase& c, int32_t first, std::vector<uint8_t>& bytes) {
  const size_t taps = static_cast<size_t>(c.kernel[0] * c.kernel[1]);
  const size_t rows = static_cast<size_t>(abi::depthwise_taps(static_cast<int32_t>(taps)));
  int32_t bias[kLanes] = {};
  int32_t mult[kLanes] = {};
  int8_t shift[kLanes] = {};
  std::vector<int8_t> weights(rows * kLanes, 0);
  for (int32_t lane = 0; lane < kLanes; ++lane) {
    const int32_t channel = kLanes % c.in_c == 0 ? lane % c.in_c : first + lane;
    if (channel >= c.in_c) continue;
    const auto o = static_cast<size_t>(channel);
    const uint32_t place = abi::depthwise_lane_position(static_cast<uint32_t>(lane));
    bias[place] = c.bias[o];
    mult[place] = c.mult[o];
    shift[place] = static_cast<int8_t>(c.shift[o]);
    for (size_t tap = 0; tap < taps; ++tap) {
      const int8_t weight = c.weights[o * taps + tap];
      bias[place] += c.x_offset * weight;
      weights[tap * kLanes + static_cast<size_t>(lane)] = weight;
    }
  }
  append(bytes, bias, kLanes);
  append(bytes, weights.data(), weights.size());
  append(bytes, shift, kLanes);
  append(bytes, mult, kLanes);
}

}  // namespace

void randomize_depthwise(ConvCase& c, Random& random) {
  c.randomize(random);
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 77);
  for (int8_t& weight : c.weights) weight = std::max<int8_t>(weight, -127);
}

Invocation mve_depthwise(const ConvCase& c, Random& random) {
  const abi::WindowGeometry g = window(c);
  std::vector<uint8_t> blocks;
  for (int32_t first = 0; first < c.in_c; first += kLanes) append_block(c, first, blocks);
  Invocation call(abi::PteOp::thimble_depthwise_mve);
  call.add(random_codes(random, {1, c.in_c, c.in[0], c.in[1]}, kNhwc));
  call.add(constant_of(g)).add(constant_bytes(blocks));
  call.add(make(DType::kU8, {abi::depthwise_scratch_bytes(g)}));
  return std::move(call.add(make(DType::kI8, {1, c.out_c, c.out[0], c.out[1]}, kNhwc)));
}

Invocation mve_depthwise_sample(Random& random) {
  ConvCase c;
  c.in_c = c.out_c = c.groups = 4 * uniform(random, 1, 9);
  for (int a = 0; a < 2; ++a) {
    const int32_t kernel = uniform(random, 1, 4);
    const int32_t dilation = uniform(random, 1, 2);
    const int32_t reach = (kernel - 1) * dilation;
    const int32_t pad = uniform(random, 0, reach);
    const int32_t in = uniform(random, std::max(1, reach + 1 - 2 * pad), reach + 5);
    const int32_t stride = uniform(random, 1, 3);
    c.set_axis(a, {in, kernel, stride, dilation, pad, (in + 2 * pad - reach - 1) / stride + 1});
  }
  randomize_depthwise(c, random);
  return mve_depthwise(c, random);
}

abi::AddFlat random_add_flat(Random& random, int32_t count) {
  const auto code = [&random](int32_t low, int32_t high) {
    return static_cast<int16_t>(uniform(random, low, high));
  };
  abi::AddFlat p = {};
  p.count = static_cast<uint32_t>(count);
  p.b_mult = uniform(random, 1 << 30, INT32_MAX);
  p.y_mult = uniform(random, 1 << 30, INT32_MAX);
  p.a_zero_point = code(-128, 127);
  p.b_zero_point = code(-128, 127);
  p.y_zero_point = code(-128, 127);
  p.min = code(-128, 0);
  p.max = code(0, 127);
  p.b_shift = static_cast<int8_t>(uniform(random, -6, 0));
  p.y_shift = static_cast<int8_t>(uniform(random, -22, -16));
  p.a_negate = static_cast<uint8_t>(uniform(random, 0, 1));
  p.b_negate = static_cast<uint8_t>(uniform(random, 0, 1));
  return p;
}

Invocation add_flat_call(const abi::AddFlat& params, Random& random) {
  const Sizes sizes = {static_cast<int32_t>(params.count)};
  Invocation call(abi::PteOp::thimble_add_flat);
  call.add(random_codes(random, sizes)).add(random_codes(random, sizes));
  return std::move(call.add(constant_of(params)).add(make(DType::kI8, sizes)));
}

Invocation add_flat_sample(Random& random) {
  return add_flat_call(random_add_flat(random, uniform(random, 1, 40)), random);
}

}  // namespace thimble::kernels::test
