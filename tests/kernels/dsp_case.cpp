// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/dsp_case.h"

#include "abi/params/linear.h"

#include <algorithm>

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

/// Order in which the core unpacks four int8 values.
constexpr int32_t kOrder[4] = {0, 2, 1, 3};

struct Bytes {
  std::vector<uint8_t> bytes;

  void word(int64_t value) {
    const auto narrow = static_cast<int32_t>(value);
    append(bytes, &narrow, 1);
  }
  void half(int32_t value) {
    const auto narrow = static_cast<int16_t>(value);
    append(bytes, &narrow, 1);
  }
};

/// One output channel of a case; zeros if o is not less than out_c.
struct Channel {
  const ConvCase& c;
  int32_t o;

  bool exists() const { return o < c.out_c; }
  int32_t depth() const { return static_cast<int32_t>(c.weights.size()) / c.out_c; }
  int32_t code(int32_t k) const {
    return exists() && k < depth() ? c.weights[static_cast<size_t>(o * depth() + k)] : 0;
  }
  int64_t bias() const {
    if (!exists()) return 0;
    int64_t sum = c.bias.empty() ? 0 : c.bias[static_cast<size_t>(o)];
    for (int32_t k = 0; k < depth(); ++k) sum += int64_t{c.x_offset} * code(k);
    return sum;
  }
  int32_t mult() const { return exists() ? c.mult[static_cast<size_t>(o)] : 0; }
  int64_t scale() const {
    return exists() ? int64_t{1} << (32 + c.shift[static_cast<size_t>(o)]) : 0;
  }
};

int32_t half_word(const Channel& a, const Channel& b, int32_t k) {
  return 256 * b.code(k) + a.code(k);
}

void put_end(const Channel& a, const Channel& b, Bytes& bytes) {
  bytes.word(2 * b.bias());
  for (const Channel& channel : {a, b}) {
    bytes.word(channel.mult());
    bytes.word(channel.scale());
  }
}

void put_pair(const Channel& a, const Channel& b, int32_t depth, Bytes& bytes) {
  bytes.word(a.bias());
  for (int32_t k = 0; k < depth; ++k) bytes.half(half_word(a, b, k / 4 * 4 + kOrder[k % 4]));
  put_end(a, b, bytes);
}

Value blob(const abi::WindowGeometry& geometry) {
  std::vector<uint8_t> bytes;
  append(bytes, &geometry, 1);
  return constant_bytes(bytes);
}

Invocation window_call(PteOp op, const ConvCase& c, Random& random, const Bytes& weights,
                       int32_t scratch) {
  Invocation call(op);
  call.add(random_codes(random, {1, c.in_c, c.in[0], c.in[1]}, kNhwc));
  call.add(blob(window_geometry_of(c))).add(constant_bytes(weights.bytes));
  call.add(make(DType::kU8, {scratch}));
  return std::move(call.add(make(DType::kI8, {1, c.out_c, c.out[0], c.out[1]}, kNhwc)));
}

ConvCase linear_case(Random& random) {
  ConvCase c;
  const int32_t rows = uniform(random, 1, 4);
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {rows, 1, 1, 1, 0, rows});
  c.in_c = 4 * uniform(random, 1, 9);
  c.out_c = uniform(random, 1, 9);
  return c;
}

ConvCase window_case(bool depthwise, Random& random) {
  ConvCase c;
  for (int a = 0; a < 2; ++a) {
    const int32_t kernel = uniform(random, 1, 3);
    const int32_t dilation = uniform(random, 1, 2);
    const int32_t reach = (kernel - 1) * dilation;
    const int32_t pad = uniform(random, 0, reach);
    const int32_t in = uniform(random, std::max(1, reach + 1 - pad), 7);
    const int32_t stride = uniform(random, 1, 3);
    const int32_t room = in + pad - reach - 1;
    c.set_axis(a, {in, kernel, stride, dilation, pad, room / stride + 1});
  }
  c.in_c = depthwise ? 4 * uniform(random, 1, 3) : uniform(random, 1, 8);
  c.out_c = depthwise ? c.in_c : uniform(random, 1, 7);
  c.groups = depthwise ? c.in_c : 1;
  return c;
}

}  // namespace

void restrict_to_dsp_limits(ConvCase& c) {
  for (int8_t& w : c.weights) w = std::max(w, int8_t{-127});
}

abi::WindowGeometry window_geometry_of(const ConvCase& c) {
  abi::WindowGeometry g = {};
  const auto half = [](int32_t value) { return static_cast<uint16_t>(value); };
  const auto byte = [](int32_t value) { return static_cast<uint8_t>(value); };
  g.in_h = half(c.in[0]), g.in_w = half(c.in[1]), g.in_c = half(c.in_c);
  g.out_h = half(c.out[0]), g.out_w = half(c.out[1]), g.out_c = half(c.out_c);
  g.kernel_h = byte(c.kernel[0]), g.kernel_w = byte(c.kernel[1]);
  g.stride_h = byte(c.stride[0]), g.stride_w = byte(c.stride[1]);
  g.dilation_h = byte(c.dilation[0]), g.dilation_w = byte(c.dilation[1]);
  g.pad_top = byte(c.pad[0]), g.pad_left = byte(c.pad[1]);
  g.x_zero_point = static_cast<int16_t>(-c.x_offset);
  g.y_zero_point = static_cast<int16_t>(c.y_offset);
  g.min = static_cast<int16_t>(c.min), g.max = static_cast<int16_t>(c.max);
  return g;
}

Invocation dsp_conv(const ConvCase& c, Random& random) {
  Bytes weights;
  const int32_t depth = (c.kernel[0] * c.kernel[1] * c.in_c + 3) / 4 * 4;
  for (int32_t o = 0; o < c.out_c; o += 4) {
    Bytes pairs[2];
    put_pair({c, o}, {c, o + 1}, depth, pairs[0]);
    put_pair({c, o + 2}, {c, o + 3}, depth, pairs[1]);
    for (size_t at = 0; at < pairs[0].bytes.size(); at += 4) {
      for (const Bytes& pair : pairs) append(weights.bytes, &pair.bytes[at], 4);
    }
  }
  const bool one_tap = c.kernel[0] * c.kernel[1] == 1;
  const int32_t rest = c.in_c % 4 != 0 ? 3 * depth : one_tap ? 0 : c.in_c;
  return window_call(PteOp::thimble_conv2d_dsp, c, random, weights, 6 * depth + rest);
}

Invocation dsp_depthwise(const ConvCase& c, Random& random) {
  Bytes weights;
  const int32_t taps = (c.kernel[0] * c.kernel[1] + 2) / 3 * 3;
  for (int32_t first = 0; first < c.out_c; first += 4) {
    for (int32_t i = 0; i < 4; ++i) weights.word(2 * Channel{c, first + i}.bias());
    for (int32_t k = 0; k < taps; ++k) {
      for (const int32_t i : kOrder) weights.half(2 * Channel{c, first + i}.code(k));
    }
    for (int32_t i = 0; i < 4; ++i) weights.word(Channel{c, first + i}.mult());
    for (int32_t i = 0; i < 4; ++i) weights.word(Channel{c, first + i}.scale());
  }
  return window_call(PteOp::thimble_depthwise_dsp, c, random, weights, 4 * taps + c.in_c);
}

Invocation dsp_linear(const ConvCase& c, Random& random) {
  Bytes weights;
  const int32_t fours = (c.out_c + 1) / 4 * 4;
  for (int32_t o = 0; o < fours; o += 4) {
    const Channel four[4] = {{c, o}, {c, o + 1}, {c, o + 2}, {c, o + 3}};
    weights.word(four[0].bias());
    weights.word(four[2].bias());
    for (int32_t k = 0; k < c.in_c; k += 2) {
      const int32_t first = k / 4 * 4 + k % 4 / 2;
      for (const int32_t pair : {0, 2}) {
        weights.half(half_word(four[pair], four[pair + 1], first));
        weights.half(half_word(four[pair], four[pair + 1], first + 2));
      }
    }
    put_end(four[0], four[1], weights);
    put_end(four[2], four[3], weights);
  }
  if (fours < c.out_c) put_pair({c, fours}, {c, fours + 1}, c.in_c, weights);
  const abi::WindowGeometry window = window_geometry_of(c);
  const abi::LinearGeometry geometry = {window.in_w,         window.in_c,         window.out_c,
                                        window.x_zero_point, window.y_zero_point, window.min,
                                        window.max};
  std::vector<uint8_t> bytes;
  append(bytes, &geometry, 1);
  Invocation call(PteOp::thimble_linear_dsp);
  call.add(random_codes(random, {c.in[1], c.in_c}));
  call.add(constant_bytes(bytes)).add(constant_bytes(weights.bytes));
  return std::move(call.add(make(DType::kI8, {c.out[1], c.out_c})));
}

Invocation dsp_sample(abi::PteOp op, Random& random) {
  const bool depthwise = op == PteOp::thimble_depthwise_dsp;
  const bool linear = op == PteOp::thimble_linear_dsp;
  ConvCase c = linear ? linear_case(random) : window_case(depthwise, random);
  c.randomize(random);
  restrict_to_dsp_limits(c);
  if (linear) return dsp_linear(c, random);
  return depthwise ? dsp_depthwise(c, random) : dsp_conv(c, random);
}

}  // namespace thimble::kernels::test
