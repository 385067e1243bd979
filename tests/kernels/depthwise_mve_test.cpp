// SPDX-License-Identifier: Apache-2.0
// depthwise_mve and add_flat (on the host the portable kernels), compared with the sums of
// docs/numerics.md; the calls that their checks refuse; and y in the buffer of an operand.

#include "tests/kernels/depthwise_mve_case.h"

#include <gtest/gtest.h>

#include <cstring>

#include "abi/params/window.h"
#include "tests/kernels/reference.h"

namespace thimble::kernels::test {
namespace {

int8_t expected_at(const ConvCase& c, Value& x, int32_t o, int32_t oy, int32_t ox) {
  const auto channel = static_cast<size_t>(o);
  int64_t acc = c.bias[channel];
  for (int32_t ky = 0; ky < c.kernel[0]; ++ky) {
    for (int32_t kx = 0; kx < c.kernel[1]; ++kx) {
      const int32_t iy = oy * c.stride[0] - c.pad[0] + ky * c.dilation[0];
      const int32_t ix = ox * c.stride[1] - c.pad[1] + kx * c.dilation[1];
      if (iy < 0 || iy >= c.in[0] || ix < 0 || ix >= c.in[1]) continue;
      acc += int64_t{x.i8({0, o, iy, ix}) + c.x_offset} * c.weight(o, 0, ky, kx);
    }
  }
  return clamped(requantized(wrapped(acc), c.mult[channel], c.shift[channel]) + c.y_offset, c.min,
                 c.max);
}

void expect_right(const ConvCase& c, Random& random) {
  Invocation call = mve_depthwise(c, random);
  ASSERT_NO_FATAL_FAILURE(call.run()) << c.text();
  Value& y = call.out();
  for (Sizes i; next(y.sizes, i);) {
    ASSERT_EQ(y.i8(i), expected_at(c, call.value(0), i[1], i[2], i[3]))
        << c.text() << " at " << i[1] << ',' << i[2] << ',' << i[3];
  }
  call.record_equal();
}

/// Returns all axes that give an output and whose padding is smaller than the window.
std::vector<ConvAxis> small_axes() {
  std::vector<ConvAxis> axes;
  for (int32_t in = 1; in <= 5; ++in) {
    for (int32_t kernel = 1; kernel <= 3; ++kernel) {
      for (int32_t stride = 1; stride <= 3; ++stride) {
        for (int32_t dilation = 1; dilation <= 2; ++dilation) {
          const int32_t reach = (kernel - 1) * dilation;
          for (int32_t before = 0; before <= reach; ++before) {
            for (int32_t after = 0; after <= reach; ++after) {
              const int32_t room = in + before + after - reach - 1;
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

ConvCase depthwise(const ConvAxis& down, const ConvAxis& across, int32_t channels) {
  ConvCase c;
  c.set_axis(0, down);
  c.set_axis(1, across);
  c.in_c = c.out_c = c.groups = channels;
  return c;
}

TEST(DepthwiseMve, AllSmallAxesWithRandomOtherAxis) {
  Random random(1);
  const std::vector<ConvAxis> axes = small_axes();
  for (const ConvAxis& axis : axes) {
    for (const int32_t channels : {4, 8, 12, 16, 20, 32}) {
      const ConvAxis& other = axes[random() % axes.size()];
      for (const bool vertical : {false, true}) {
        ConvCase c = depthwise(vertical ? axis : other, vertical ? other : axis, channels);
        randomize_depthwise(c, random);
        ASSERT_NO_FATAL_FAILURE(expect_right(c, random));
      }
    }
  }
}

TEST(DepthwiseMve, LargeWindowsAndExtremeWeights) {
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    const int32_t down = uniform(random, 1, 11);
    const int32_t across = uniform(random, 1, 7);
    ConvCase c = depthwise({down + 2, down, 1, 1, down / 2, 3 + down / 2 * 2},
                           {across + 4, across, 2, 1, across / 2, (4 + across / 2 * 2) / 2 + 1},
                           4 * uniform(random, 1, 10));
    randomize_depthwise(c, random);
    for (size_t k = 0; k < c.weights.size(); k += 2) c.weights[k] = 127;
    ASSERT_NO_FATAL_FAILURE(expect_right(c, random));
  }
}

TEST(DepthwiseMve, RefusesUnsupportedShapes) {
  Random random(3);
  const auto call = [&random](int32_t channels) {
    ConvCase c = depthwise({5, 3, 1, 1, 1, 5}, {5, 3, 1, 1, 1, 5}, channels);
    randomize_depthwise(c, random);
    return mve_depthwise(c, random);
  };
  ASSERT_EQ(call(16).check(), Status::kOk);
  EXPECT_EQ(call(6).check(), Status::kBadShape);
  Invocation multiplied = call(16);
  multiplied.value(1).as<abi::WindowGeometry>()->out_c = 32;
  EXPECT_NE(multiplied.check(), Status::kOk);
  Invocation larger = call(16);
  larger.value(1).as<abi::WindowGeometry>()->kernel_h = 5;
  larger.value(1).as<abi::WindowGeometry>()->pad_top = 2;
  EXPECT_NE(larger.check(), Status::kOk) << "its blocks have nine taps";
  Invocation cramped = call(16);
  cramped.value(3) = make(DType::kU8, {15});
  EXPECT_EQ(cramped.check(), Status::kScratchTooSmall);
}

int8_t expected_sum(const abi::AddFlat& p, int32_t a, int32_t b) {
  const int64_t a_sign = p.a_negate != 0 ? -1 : 1;
  const int64_t b_sign = p.b_negate != 0 ? -1 : 1;
  const int64_t wide = requantized(a_sign * (a - p.a_zero_point) * (1 << 20), 1 << 30, 0);
  const int64_t narrow =
      requantized(b_sign * (b - p.b_zero_point) * (1 << 20), p.b_mult, p.b_shift);
  return clamped(requantized(wide + narrow, p.y_mult, p.y_shift) + p.y_zero_point, p.min, p.max);
}

TEST(AddFlat, AllPairsOfInt8Values) {
  Random random(4);
  for (int i = 0; i < 20; ++i) {
    const abi::AddFlat p = random_add_flat(random, 65536);
    Invocation call = add_flat_call(p, random);
    for (int32_t k = 0; k < 65536; ++k) {
      call.value(0).as<int8_t>()[k] = static_cast<int8_t>(k / 256 - 128);
      call.value(1).as<int8_t>()[k] = static_cast<int8_t>(k % 256 - 128);
    }
    ASSERT_NO_FATAL_FAILURE(call.run());
    for (int32_t k = 0; k < 65536; ++k) {
      ASSERT_EQ(call.out().as<int8_t>()[k], expected_sum(p, k / 256 - 128, k % 256 - 128));
    }
    call.record_equal();
  }
}

TEST(AddFlat, RefusesInvalidCountsAndShifts) {
  Random random(5);
  const auto status = [&random](auto change) {
    Invocation call = add_flat_sample(random);
    change(*call.value(2).as<abi::AddFlat>());
    return call.check();
  };
  EXPECT_EQ(status([](abi::AddFlat&) {}), Status::kOk);
  EXPECT_EQ(status([](abi::AddFlat& p) { ++p.count; }), Status::kBadShape);
  EXPECT_EQ(status([](abi::AddFlat& p) { p.y_shift = 0; }), Status::kBadParameter);
  EXPECT_EQ(status([](abi::AddFlat& p) { p.b_shift = 1; }), Status::kBadParameter);
  EXPECT_EQ(status([](abi::AddFlat& p) { p.y_mult = -1; }), Status::kBadParameter);
  EXPECT_EQ(status([](abi::AddFlat& p) { p.max = 128; }), Status::kBadParameter);
  EXPECT_EQ(status([](abi::AddFlat& p) { p.a_zero_point = -129; }), Status::kBadParameter);
}

}  // namespace
}  // namespace thimble::kernels::test
