// SPDX-License-Identifier: Apache-2.0
// conv2d and depthwise_conv2d, stock and native, compared with the sum of docs/numerics.md over
// logical indices.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/kernels/conv_case.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

using abi::PteOp;

int8_t expected_at(ConvCase& c, Value& x, int32_t n, int32_t o, int32_t oy, int32_t ox) {
  const int32_t group_in = c.in_c / c.groups;
  const int32_t first = o / (c.out_c / c.groups) * group_in;
  int64_t acc = c.bias.empty() ? 0 : c.bias[static_cast<size_t>(o)];
  for (int32_t i = 0; i < group_in; ++i) {
    for (int32_t ky = 0; ky < c.kernel[0]; ++ky) {
      for (int32_t kx = 0; kx < c.kernel[1]; ++kx) {
        const int32_t iy = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
        const int32_t ix = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
        const bool inside = iy >= 0 && iy < c.in[0] && ix >= 0 && ix < c.in[1];
        const int64_t code = inside ? x.i8({n, first + i, iy, ix}) + c.x_offset : 0;
        acc += code * c.weight(o, i, ky, kx);
      }
    }
  }
  const size_t channel = static_cast<size_t>(o);
  return clamped(requantized(wrapped(acc), c.mult[channel], c.shift[channel]) + c.y_offset, c.min,
                 c.max);
}

void expect_right(ConvCase& c, Invocation call) {
  ASSERT_NO_FATAL_FAILURE(call.run()) << c.text();
  Value& x = call.value(0);
  Value& y = call.out();
  for (Sizes i; next(y.sizes, i);) {
    ASSERT_EQ(y.i8(i), expected_at(c, x, i[0], i[1], i[2], i[3]))
        << call.kernel->name << ' ' << c.text() << " at " << i[0] << ',' << i[1] << ',' << i[2]
        << ',' << i[3];
  }
  call.record_equal();
}

void expect_all_forms(ConvCase& c, Random& random) {
  c.randomize(random);
  if (c.stock_output()) {
    expect_right(c, c.stock(random, PteOp::cortex_m_quantized_conv2d));
    if (c.is_depthwise()) {
      expect_right(c, c.stock(random, PteOp::cortex_m_quantized_depthwise_conv2d));
    }
  }
  if (c.bias.empty()) c.bias.assign(static_cast<size_t>(c.out_c), 0);
  expect_right(c, c.native(random, PteOp::thimble_conv2d));
  if (c.is_depthwise()) expect_right(c, c.native(random, PteOp::thimble_depthwise_conv2d));
}

const int32_t kChannels[][3] = {{1, 1, 1}, {2, 3, 1}, {3, 2, 1}, {2, 2, 2}, {3, 3, 3},
                                {2, 4, 2}, {1, 3, 1}, {4, 2, 2}, {3, 6, 3}, {1, 4, 1}};

/// Returns all combinations of extent, window and padding of one axis that give an output.
std::vector<ConvAxis> small_axes() {
  std::vector<ConvAxis> axes;
  for (int32_t in = 1; in <= 4; ++in) {
    for (int32_t kernel = 1; kernel <= 3; ++kernel) {
      for (int32_t stride = 1; stride <= 3; ++stride) {
        for (int32_t dilation = 1; dilation <= 2; ++dilation) {
          for (int32_t before = 0; before <= 2; ++before) {
            for (int32_t after = 0; after <= 2; ++after) {
              const int32_t room = in + before + after - (kernel - 1) * dilation - 1;
              if (room < 0) continue;
              axes.push_back({in, kernel, stride, dilation, before, room / stride + 1});
            }
          }
        }
      }
    }
  }
  return axes;
}

TEST(Conv2d, AllSmallAxesWithRandomOtherAxis) {
  Random random(1);
  const std::vector<ConvAxis> axes = small_axes();
  for (const ConvAxis& axis : axes) {
    for (const bool vertical : {false, true}) {
      for (const auto& channels : kChannels) {
        const ConvAxis& other = axes[random() % axes.size()];
        ConvCase c;
        c.set_axis(0, vertical ? axis : other);
        c.set_axis(1, vertical ? other : axis);
        c.in_c = channels[0];
        c.out_c = channels[1];
        c.groups = channels[2];
        c.batch = uniform(random, 1, 2);
        ASSERT_NO_FATAL_FAILURE(expect_all_forms(c, random));
      }
    }
  }
}

TEST(Conv2d, RandomLarger) {
  Random random(2);
  for (int i = 0; i < 150; ++i) {
    ConvCase c;
    c.groups = uniform(random, 0, 2) == 0 ? 1 : uniform(random, 1, 9);
    c.in_c = c.groups * uniform(random, 1, 5);
    if (uniform(random, 0, 1) == 0) c.in_c = c.groups;
    c.out_c = c.groups * uniform(random, 1, 5);
    for (int a = 0; a < 2; ++a) {
      const int32_t kernel = uniform(random, 1, 6);
      const int32_t dilation = uniform(random, 1, 3);
      const int32_t pad = uniform(random, 0, 7);
      const int32_t reach = (kernel - 1) * dilation + 1;
      const int32_t in = uniform(random, std::max(1, reach - 2 * pad), reach + 9);
      const int32_t stride = uniform(random, 1, 5);
      c.set_axis(a, {in, kernel, stride, dilation, pad, (in + 2 * pad - reach) / stride + 1});
    }
    ASSERT_NO_FATAL_FAILURE(expect_all_forms(c, random));
  }
}

TEST(Conv2d, LongSumsAtTheExtremes) {
  // 65,793 products of 255 * -128 give the largest sum that a compiled graph may have.
  Random random(3);
  ConvCase c;
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {1, 1, 1, 1, 0, 1});
  c.in_c = static_cast<int32_t>(abi::kMaxAccumulations);
  c.out_c = 2;
  c.randomize(random);
  c.x_offset = 128;
  c.shift = {-16, -24};
  c.min = -128;
  c.max = 127;
  c.bias.clear();
  std::fill(c.weights.begin(), c.weights.end(), int8_t{-128});
  Invocation call = c.stock(random, PteOp::cortex_m_quantized_conv2d);
  std::memset(call.value(0).data.get(), 127, call.value(0).bytes);
  ASSERT_NO_FATAL_FAILURE(expect_right(c, std::move(call)));
  c.in_c += 1;
  c.randomize(random);
  EXPECT_EQ(c.stock(random, PteOp::cortex_m_quantized_conv2d).check(), Status::kBadShape);
}

TEST(Conv2d, AcceptsAmbiguousOrders) {
  Random random(4);
  ConvCase c;
  c.set_axis(0, {1, 1, 1, 1, 0, 1});
  c.set_axis(1, {1, 1, 1, 1, 0, 1});
  c.in_c = 5;
  c.out_c = 3;
  c.randomize(random);
  Invocation call = c.stock(random, PteOp::cortex_m_quantized_conv2d);
  call.value(0).order = contiguous(4);
  call.out().order = contiguous(4);
  expect_right(c, std::move(call));
}

}  // namespace
}  // namespace thimble::kernels::test
