// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/int4_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "abi/int4_group.h"
#include "abi/matmul_dsp.h"
#include "abi/matmul_mve.h"
#include "abi/matmul_scalar.h"
#include "abi/params/linear.h"
#include "tests/kernels/dsp_case.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;
using Bytes = std::vector<uint8_t>;

constexpr auto kGroup = static_cast<int32_t>(abi::kInt4Group);

bool is_linear(PteOp op) {
  return op == PteOp::thimble_linear_dsp_int4 || op == PteOp::thimble_linear_mve_int4 ||
         op == PteOp::thimble_linear_scalar_int4 || op == PteOp::thimble_linear_int4_group;
}
bool is_grouped(PteOp op) {
  return op == PteOp::thimble_linear_int4_group || op == PteOp::thimble_conv2d_int4_group;
}

int32_t depth_of(const ConvCase& c) {
  return static_cast<int32_t>(c.weights.size()) / c.out_c;
}
/// Returns 0 for a missing channel and for padding.
int32_t code(const ConvCase& c, int32_t o, int32_t k) {
  if (o >= c.out_c || k >= depth_of(c)) return 0;
  return c.weights[static_cast<size_t>(o * depth_of(c) + k)];
}
int32_t bias(const ConvCase& c, int32_t o) {
  if (o >= c.out_c) return 0;
  int32_t sum = c.bias[static_cast<size_t>(o)];
  for (int32_t k = 0; k < depth_of(c); ++k) sum += c.x_offset * code(c, o, k);
  return sum;
}

void put_word(Bytes& bytes, int64_t value) {
  const auto narrow = static_cast<int32_t>(value);
  append(bytes, &narrow, 1);
}
void put_two(Bytes& bytes, int32_t low, int32_t high) {
  bytes.push_back(static_cast<uint8_t>((low & 15) + 16 * (high & 15)));
}
void put_offset(Bytes& bytes, const ConvCase& c, int32_t a, int32_t k) {
  bytes.push_back(static_cast<uint8_t>(16 * code(c, a + 1, k) + code(c, a, k) + 8));
}

void put_dsp_ends(Bytes& bytes, const ConvCase& c, int32_t a) {
  put_word(bytes, 2 * int64_t{bias(c, a + 1)});
  for (int32_t o = a; o < a + 2; ++o) {
    const bool exists = o < c.out_c;
    put_word(bytes, exists ? c.mult[static_cast<size_t>(o)] : 0);
    put_word(bytes, exists ? int64_t{1} << (32 + c.shift[static_cast<size_t>(o)]) : 0);
  }
}

void put_dsp_pair(Bytes& bytes, const ConvCase& c, int32_t a) {
  put_word(bytes, bias(c, a));
  for (int32_t k = 0; k < (depth_of(c) + 3) / 4 * 4; ++k) put_offset(bytes, c, a, k);
  put_dsp_ends(bytes, c, a);
}

Bytes dsp_conv(const ConvCase& c) {
  Bytes bytes;
  for (int32_t a = 0; a < c.out_c; a += 2) put_dsp_pair(bytes, c, a);
  return bytes;
}

Bytes dsp_linear(const ConvCase& c) {
  Bytes bytes;
  int32_t a = 0;
  for (; c.out_c - a >= 3; a += 4) {
    put_word(bytes, bias(c, a));
    put_word(bytes, bias(c, a + 2));
    for (int32_t k = 0; k < depth_of(c); k += 4) {
      for (int32_t i = k; i < k + 4; ++i) put_offset(bytes, c, a, i);
      for (int32_t i = k; i < k + 4; ++i) put_offset(bytes, c, a + 2, i);
    }
    put_dsp_ends(bytes, c, a);
    put_dsp_ends(bytes, c, a + 2);
  }
  if (a < c.out_c) put_dsp_pair(bytes, c, a);
  return bytes;
}

/// The constants of four channels; those of missing channels are 0.
template <class Quad>
Quad quad_of(const ConvCase& c, int32_t first) {
  Quad quad = {};
  for (int32_t lane = 0; lane < 4 && first + lane < c.out_c; ++lane) {
    const auto o = static_cast<size_t>(first + lane);
    quad.bias[lane] = bias(c, first + lane);
    quad.mult[lane] = c.mult[o];
    quad.shift[lane] = static_cast<int8_t>(c.shift[o]);
  }
  return quad;
}

Bytes mve(const ConvCase& c) {
  Bytes bytes;
  for (int32_t first = 0; first < c.out_c; first += 4) {
    const auto quad = quad_of<abi::MatmulQuad>(c, first);
    append(bytes, &quad, 1);
  }
  while (bytes.size() % 16 != 0) bytes.push_back(0);
  for (int32_t first = 0; first < c.out_c; first += 4) {
    for (int32_t o = first; o < first + 2; ++o) {
      for (int32_t k = 0; k < (depth_of(c) + 15) / 16 * 16; ++k) {
        put_two(bytes, code(c, o, k), code(c, o + 2, k));
      }
    }
  }
  bytes.resize(bytes.size() + 16);
  return bytes;
}

Bytes scalar(const ConvCase& c) {
  Bytes bytes;
  for (int32_t o = 0; o < c.out_c; ++o) {
    const int32_t shift = -c.shift[static_cast<size_t>(o)];
    const abi::ScalarChannel channel = {bias(c, o), c.mult[static_cast<size_t>(o)],
                                        (2 * c.y_offset + 1) * (1 << (shift - 1)), shift};
    append(bytes, &channel, 1);
  }
  for (int32_t o = 0; o < c.out_c; o += 2) {
    for (int32_t k = 0; k < (depth_of(c) + 3) / 4 * 4; ++k) {
      put_two(bytes, code(c, o, k), code(c, o + 1, k));
    }
  }
  return bytes;
}

/// Returns the largest factor of `count` weights of a channel from depth k; 0 for a missing
/// channel.
int32_t factor(const ConvCase& c, int32_t o, int32_t k, int32_t count) {
  if (o >= c.out_c) return 0;
  for (int32_t f = abi::kInt4FactorMax; f > 0; --f) {
    bool fits = true;
    for (int32_t i = k; i < k + count; ++i) {
      const int32_t weight = code(c, o, i);
      fits = fits && weight % f == 0 && weight / f >= -8 && weight / f <= 7;
    }
    if (fits) return f;
  }
  ADD_FAILURE() << "weights without a factor";
  return 0;
}

Bytes grouped(const ConvCase& c) {
  Bytes bytes;
  for (int32_t first = 0; first < c.out_c; first += 4) {
    const auto quad = quad_of<abi::Int4Quad>(c, first);
    append(bytes, &quad, 1);
    for (int32_t k = 0; k < depth_of(c); k += kGroup) {
      const int32_t count = std::min(kGroup, depth_of(c) - k);
      int32_t factors[4];
      for (int32_t lane = 0; lane < 4; ++lane) {
        factors[lane] = factor(c, first + lane, k, count);
        bytes.push_back(static_cast<uint8_t>(factors[lane]));
      }
      for (const int32_t lane : {0, 2}) {
        for (int32_t i = k; i < k + count; ++i) {
          const int32_t low = code(c, first + lane, i) / std::max(1, factors[lane]);
          const int32_t high = code(c, first + lane + 1, i) / std::max(1, factors[lane + 1]);
          bytes.push_back(static_cast<uint8_t>(16 * high + low + 8));
        }
      }
    }
  }
  bytes.resize(bytes.size() + 16);
  return bytes;
}

template <class Geometry>
Value constant_of(const Geometry& geometry) {
  Bytes bytes;
  append(bytes, &geometry, 1);
  return constant_bytes(bytes);
}

Invocation linear_call(PteOp op, const ConvCase& c, const Bytes& weights, Random& random) {
  const int32_t rows = c.in[0] * c.in[1];
  const abi::WindowGeometry w = window_geometry_of(c);
  const abi::LinearGeometry g = {
      static_cast<uint32_t>(rows), w.in_c, w.out_c, w.x_zero_point, w.y_zero_point, w.min, w.max};
  Invocation call(op);
  call.add(random_codes(random, {rows, c.in_c}));
  call.add(constant_of(g)).add(constant_bytes(weights));
  if (is_grouped(op)) {
    const auto scratch = static_cast<int32_t>(abi::int4_group_scratch_bytes(c.in_c));
    call.add(make(DType::kU8, {scratch}));
  }
  return std::move(call.add(make(DType::kI8, {rows, c.out_c})));
}

int64_t scratch_bytes(PteOp op, const ConvCase& c) {
  const auto depth = static_cast<uint32_t>(depth_of(c));
  if (op == PteOp::thimble_conv2d_dsp_int4) {
    return abi::dsp_conv_scratch_bytes(window_geometry_of(c));
  }
  if (is_grouped(op)) return abi::int4_group_scratch_bytes(depth);
  if (op == PteOp::thimble_conv2d_scalar_int4) return abi::kScalarPixels * abi::scalar_row(depth);
  return abi::conv2d_mve_scratch_bytes(depth, depth / static_cast<uint32_t>(c.kernel[0]));
}

Bytes packed(PteOp op, const ConvCase& c) {
  switch (op) {
    case PteOp::thimble_conv2d_dsp_int4:
      return dsp_conv(c);
    case PteOp::thimble_linear_dsp_int4:
      return dsp_linear(c);
    case PteOp::thimble_conv2d_mve_int4:
    case PteOp::thimble_linear_mve_int4:
      return mve(c);
    case PteOp::thimble_conv2d_int4_group:
    case PteOp::thimble_linear_int4_group:
      return grouped(c);
    default:
      return scalar(c);
  }
}

}  // namespace

ConvCase int4_case(PteOp op, Random& random) {
  ConvCase c;
  const bool one_tap = is_linear(op) || is_grouped(op);
  for (int a = 0; a < 2; ++a) {
    const int32_t kernel = one_tap ? 1 : uniform(random, 1, 3);
    const int32_t stride = one_tap ? 1 : uniform(random, 1, 3);
    const int32_t dilation = one_tap ? 1 : uniform(random, 1, 2);
    const int32_t reach = (kernel - 1) * dilation;
    const int32_t pad = uniform(random, 0, reach);
    const int32_t in = uniform(random, std::max(1, reach + 1 - 2 * pad), reach + 4);
    c.set_axis(a, {in, kernel, stride, dilation, pad, (in + 2 * pad - reach - 1) / stride + 1});
  }
  c.in_c = is_grouped(op)                         ? 4 * uniform(random, 1, 30)
           : op == PteOp::thimble_linear_dsp_int4 ? 4 * uniform(random, 1, 9)
                                                  : uniform(random, 1, 40);
  c.out_c = uniform(random, 1, 11);
  c.randomize(random);
  for (int8_t& weight : c.weights)
    weight = static_cast<int8_t>(weight % 16 < 0 ? weight % 16 + 8 : weight % 16 - 8);
  for (size_t i = 0; is_grouped(op) && i < c.weights.size(); ++i) {
    const size_t group = i % static_cast<size_t>(c.in_c) / abi::kInt4Group;
    const size_t row = i / static_cast<size_t>(c.in_c);
    c.weights[i] = static_cast<int8_t>(
        c.weights[i] * static_cast<int32_t>(1 + (7 * row + 4 * group) % abi::kInt4FactorMax));
  }
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 3);
  return c;
}

Invocation int4_call(PteOp op, const ConvCase& c, Random& random) {
  const Bytes weights = packed(op, c);
  if (is_linear(op)) return linear_call(op, c, weights, random);
  Invocation call(op);
  call.add(random_codes(random, {1, c.in_c, c.in[0], c.in[1]}, kNhwc));
  call.add(constant_of(window_geometry_of(c))).add(constant_bytes(weights));
  call.add(make(DType::kU8, {static_cast<int32_t>(scratch_bytes(op, c))}));
  return std::move(call.add(make(DType::kI8, {1, c.out_c, c.out[0], c.out[1]}, kNhwc)));
}

Invocation int4_sample(PteOp op, Random& random) {
  return int4_call(op, int4_case(op, random), random);
}

}  // namespace thimble::kernels::test
