// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/matmul_mve_case.h"

#include <cstring>

#include "abi/matmul_mve.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"

namespace thimble::kernels::test {
namespace {

template <class Geometry>
Value geometry_constant(const Geometry& geometry) {
  std::vector<uint8_t> bytes;
  append(bytes, &geometry, 1);
  return constant_bytes(bytes);
}

int16_t half(int32_t value) {
  return static_cast<int16_t>(value);
}

abi::WindowGeometry window(const ConvCase& c) {
  const auto size = [](int32_t value) { return static_cast<uint16_t>(value); };
  const auto byte = [](int32_t value) { return static_cast<uint8_t>(value); };
  abi::WindowGeometry g = {};
  g.in_h = size(c.in[0]);
  g.in_w = size(c.in[1]);
  g.in_c = size(c.in_c);
  g.out_h = size(c.out[0]);
  g.out_w = size(c.out[1]);
  g.out_c = size(c.out_c);
  g.kernel_h = byte(c.kernel[0]);
  g.kernel_w = byte(c.kernel[1]);
  g.stride_h = byte(c.stride[0]);
  g.stride_w = byte(c.stride[1]);
  g.dilation_h = byte(c.dilation[0]);
  g.dilation_w = byte(c.dilation[1]);
  g.pad_top = byte(c.pad[0]);
  g.pad_left = byte(c.pad[1]);
  g.x_zero_point = half(-c.x_offset);
  g.y_zero_point = half(c.y_offset);
  g.min = half(c.min);
  g.max = half(c.max);
  return g;
}

Value weights_of(const ConvCase& c) {
  return constant_bytes(pack_matmul(c.weights, c.bias, c.mult, c.shift, c.x_offset));
}

}  // namespace

std::vector<uint8_t> pack_matmul(const std::vector<int8_t>& weights,
                                 const std::vector<int32_t>& bias, const std::vector<int32_t>& mult,
                                 const std::vector<int32_t>& shift, int32_t x_offset) {
  const auto channels = static_cast<uint32_t>(bias.size());
  const auto depth = static_cast<uint32_t>(weights.size() / bias.size());
  std::vector<abi::MatmulQuad> quads(abi::matmul_quads(channels));
  std::vector<uint8_t> bytes(static_cast<size_t>(abi::matmul_bytes(channels, depth)));
  uint8_t* const packed = bytes.data() + abi::matmul_header_bytes(abi::matmul_quads(channels));
  for (uint32_t o = 0; o < channels; ++o) {
    int32_t sum = 0;
    for (uint32_t k = 0; k < depth; ++k) {
      const int8_t weight = weights[o * depth + k];
      packed[abi::matmul_weight_offset(o, k, depth)] = static_cast<uint8_t>(weight);
      sum += weight;
    }
    quads[o / 4].bias[o % 4] = bias[o] + x_offset * sum;
    quads[o / 4].mult[o % 4] = mult[o];
    quads[o / 4].shift[o % 4] = static_cast<int8_t>(shift[o]);
  }
  std::memcpy(bytes.data(), quads.data(), quads.size() * sizeof(abi::MatmulQuad));
  return bytes;
}

Invocation mve_conv(const ConvCase& c, Random& random) {
  const auto depth = static_cast<uint32_t>(c.kernel[0] * c.kernel[1] * c.in_c);
  const uint32_t row = depth / static_cast<uint32_t>(c.kernel[0]);
  const auto scratch = static_cast<int32_t>(abi::conv2d_mve_scratch_bytes(depth, row));
  Invocation call(abi::PteOp::thimble_conv2d_mve);
  call.add(random_codes(random, {1, c.in_c, c.in[0], c.in[1]}, kNhwc));
  call.add(geometry_constant(window(c))).add(weights_of(c));
  call.add(make(DType::kU8, {scratch}));
  return std::move(call.add(make(DType::kI8, {1, c.out_c, c.out[0], c.out[1]}, kNhwc)));
}

Invocation mve_linear(const ConvCase& c, Random& random) {
  const int32_t rows = c.in[0] * c.in[1];
  abi::LinearGeometry g = {};
  g.rows = static_cast<uint32_t>(rows);
  g.in_features = static_cast<uint32_t>(c.in_c);
  g.out_features = static_cast<uint32_t>(c.out_c);
  g.x_zero_point = half(-c.x_offset);
  g.y_zero_point = half(c.y_offset);
  g.min = half(c.min);
  g.max = half(c.max);
  Invocation call(abi::PteOp::thimble_linear_mve);
  call.add(random_codes(random, {c.in[0], c.in[1], c.in_c}));
  call.add(geometry_constant(g)).add(weights_of(c));
  return std::move(call.add(make(DType::kI8, {c.in[0], c.in[1], c.out_c})));
}

Invocation mve_sample(abi::PteOp op, Random& random) {
  const bool linear = op == abi::PteOp::thimble_linear_mve;
  ConvCase c;
  c.in_c = uniform(random, 1, 20);
  c.out_c = uniform(random, 1, 9);
  for (int a = 0; a < 2; ++a) {
    const int32_t kernel = linear ? 1 : uniform(random, 1, 3);
    const int32_t stride = linear ? 1 : uniform(random, 1, 3);
    const int32_t dilation = linear ? 1 : uniform(random, 1, 2);
    const int32_t reach = (kernel - 1) * dilation;
    const int32_t pad = uniform(random, 0, reach);
    const int32_t in = uniform(random, std::max(1, reach + 1 - 2 * pad), reach + 4);
    c.set_axis(a, {in, kernel, stride, dilation, pad, (in + 2 * pad - reach - 1) / stride + 1});
  }
  c.randomize(random);
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 1);
  return linear ? mve_linear(c, random) : mve_conv(c, random);
}

}  // namespace thimble::kernels::test
