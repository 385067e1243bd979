// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/scalar_case.h"

#include "abi/matmul_scalar.h"
#include "abi/params/linear.h"
#include "abi/params/window.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using abi::ScalarChannel;

/// Returns true if a linear layer of these weights may have blocks of four outputs.
bool fits_blocks(const ConvCase& c) {
  for (size_t k = 1; k < c.weights.size(); k += 2) {
    if (c.weights[k] == -128) return false;
  }
  return c.in_c % 4 == 0 && c.out_c % 4 == 0;
}

/// Changes rows of weights to blocks of four outputs.
void to_blocks(const ConvCase& c, std::vector<uint8_t>* bytes) {
  auto* const channels = reinterpret_cast<ScalarChannel*>(bytes->data());
  auto* const packed = reinterpret_cast<int8_t*>(channels + c.out_c);
  channels[0].shift |= abi::kScalarBlocks;
  for (int32_t o = 0; o < c.out_c; ++o) {
    for (int32_t k = 0; k < c.in_c; ++k) {
      const int8_t weight = c.weights[static_cast<size_t>(o * c.in_c + k)];
      channels[o].bias -= 128 * weight;
      packed[abi::scalar_block_offset(o, k, c.in_c)] = abi::scalar_block_code(weight, k);
    }
  }
}

/// Returns channel records, then the weights: tap by tap, or per channel padded to a multiple of 4.
std::vector<uint8_t> packed(const ConvCase& c) {
  std::vector<uint8_t> bytes;
  const size_t length = c.weights.size() / static_cast<size_t>(c.out_c);
  for (size_t o = 0; o < static_cast<size_t>(c.out_c); ++o) {
    int32_t sum = 0;
    for (size_t k = 0; k < length; ++k) sum += c.weights[o * length + k];
    const int32_t bias = c.bias.empty() ? 0 : c.bias[o];
    const int32_t shift = -c.shift[o];
    const ScalarChannel channel = {bias + c.x_offset * sum, c.mult[o],
                                   (2 * c.y_offset + 1) * (1 << (shift - 1)), shift};
    append(bytes, &channel, 1);
  }
  if (c.groups != 1) {
    for (size_t tap = 0; tap < length; ++tap) {
      for (size_t o = 0; o < static_cast<size_t>(c.out_c); ++o) {
        append(bytes, &c.weights[o * length + tap], 1);
      }
    }
    return bytes;
  }
  for (size_t o = 0; o < static_cast<size_t>(c.out_c); ++o) {
    append(bytes, c.weights.data() + o * length, length);
    while (bytes.size() % 4 != 0) bytes.push_back(0);
  }
  return bytes;
}

template <class Geometry>
Value constant_of(const Geometry& geometry) {
  std::vector<uint8_t> bytes;
  append(bytes, &geometry, 1);
  return constant_bytes(bytes);
}

Value scratch(int32_t bytes) {
  return make(DType::kU8, {bytes});
}

}  // namespace

ConvAxis packed_axis(Random& random, int32_t kernel_max, int32_t out_max) {
  ConvAxis axis;
  axis.kernel = uniform(random, 1, kernel_max);
  axis.stride = uniform(random, 1, 3);
  axis.dilation = uniform(random, 1, 2);
  const int32_t reach = (axis.kernel - 1) * axis.dilation;
  axis.pad = uniform(random, 0, reach);
  axis.out = uniform(random, 1, out_max);
  const int32_t after = uniform(random, 0, reach);
  axis.in = (axis.out - 1) * axis.stride + reach + 1 - axis.pad - after;
  if (axis.in < 1) return packed_axis(random, kernel_max, out_max);
  return axis;
}

Invocation scalar_conv(const ConvCase& c, Random& random) {
  const auto u16 = [](int32_t value) { return static_cast<uint16_t>(value); };
  const auto u8 = [](int32_t value) { return static_cast<uint8_t>(value); };
  const auto i16 = [](int32_t value) { return static_cast<int16_t>(value); };
  const abi::WindowGeometry geometry = {
      u16(c.in[0]),      u16(c.in[1]),      u16(c.in_c),     u16(c.out[0]),   u16(c.out[1]),
      u16(c.out_c),      u8(c.kernel[0]),   u8(c.kernel[1]), u8(c.stride[0]), u8(c.stride[1]),
      u8(c.dilation[0]), u8(c.dilation[1]), u8(c.pad[0]),    u8(c.pad[1]),    {},
      i16(-c.x_offset),  i16(c.y_offset),   i16(c.min),      i16(c.max),      {}};
  const int64_t row = abi::scalar_row(int64_t{c.kernel[0]} * c.kernel[1] * c.in_c);
  const bool depthwise = c.groups != 1;
  Invocation call(depthwise ? PteOp::thimble_depthwise_scalar : PteOp::thimble_conv2d_scalar);
  call.add(random_codes(random, {1, c.in_c, c.in[0], c.in[1]}, kNhwc));
  call.add(constant_of(geometry)).add(constant_bytes(packed(c)));
  call.add(scratch(static_cast<int32_t>(depthwise ? abi::scalar_depthwise_scratch(geometry)
                                                  : abi::kScalarPixels * row)));
  call.add(make(DType::kI8, {1, c.out_c, c.out[0], c.out[1]}, kNhwc));
  return call;
}

Invocation scalar_linear(const ConvCase& c, Random& random) {
  const abi::LinearGeometry geometry = {
      static_cast<uint32_t>(c.in[0]),   static_cast<uint32_t>(c.in_c),
      static_cast<uint32_t>(c.out_c),   static_cast<int16_t>(-c.x_offset),
      static_cast<int16_t>(c.y_offset), static_cast<int16_t>(c.min),
      static_cast<int16_t>(c.max)};
  Invocation call(PteOp::thimble_linear_scalar);
  call.add(random_codes(random, {c.in[0], c.in_c}));
  std::vector<uint8_t> constant = packed(c);
  if (fits_blocks(c)) to_blocks(c, &constant);
  call.add(constant_of(geometry)).add(constant_bytes(constant));
  call.add(make(DType::kI8, {c.in[0], c.out_c}));
  return call;
}

Invocation scalar_sample(PteOp op, Random& random) {
  ConvCase c;
  c.in_c = uniform(random, 1, 6);
  c.out_c = uniform(random, 1, 5);
  const bool linear = op == PteOp::thimble_linear_scalar;
  if (linear && uniform(random, 0, 1) == 0) c.in_c = c.out_c = 4;
  if (op == PteOp::thimble_depthwise_scalar) {
    c.groups = c.in_c = uniform(random, 2, 5);
    c.out_c = c.in_c * uniform(random, 1, 2);
  }
  for (int a = 0; a < 2; ++a) {
    const int32_t rows = uniform(random, 1, 4);
    c.set_axis(a, linear ? ConvAxis{rows, 1, 1, 1, 0, rows} : packed_axis(random, 3, 4));
  }
  c.randomize(random);
  return linear ? scalar_linear(c, random) : scalar_conv(c, random);
}

}  // namespace thimble::kernels::test
