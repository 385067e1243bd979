// SPDX-License-Identifier: Apache-2.0
// Reductions, cumulative sums and norms on values computed by hand.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/unit/eval_support.h"

namespace thimble {
namespace {

using test::codes;
using test::floats;
using test::run;
using test::words;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

ir::Tensor positions(const ir::Shape& shape, const std::vector<int64_t>& values) {
  ir::Tensor tensor = ir::zeros(ir::DType::kI64, shape);
  std::ranges::copy(values, tensor.data<int64_t>().begin());
  return tensor;
}

ir::Tensor halves(const std::vector<int16_t>& values) {
  ir::Tensor tensor = ir::zeros(ir::DType::kI16, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, tensor.data<int16_t>().begin());
  return tensor;
}

TEST(Reduce, SumsAndExtremes) {
  const auto x = floats({2, 3}, {1, 5, 3, -2, 4, 0});
  EXPECT_EQ(run({{"x", x}}, "sum(%x) {dims=[0]}"), floats({3}, {-1, 9, 3}));
  EXPECT_EQ(run({{"x", x}}, "amax(%x) {dims=[1], keepdim=1}"), floats({2, 1}, {5, 4}));
  EXPECT_EQ(run({{"x", x}}, "amin(%x) {dims=[1,0]}"), floats({}, {-2}));
  EXPECT_EQ(run({{"x", x}}, "cumsum(%x) {dim=1}"), floats({2, 3}, {1, 6, 9, -2, 2, 2}));
  EXPECT_EQ(run({{"x", x}}, "cumsum(%x) {dim=0}"), floats({2, 3}, {1, 5, 3, -1, 9, 3}));
  EXPECT_EQ(run({{"x", x}}, "variance(%x) {dims=[1], correction=0}"),
            floats({2}, {8.0F / 3, 56.0F / 9}));
  EXPECT_EQ(run({{"x", x}}, "variance(%x) {dims=[1]}"), floats({2}, {4, 28.0F / 3}));
}

TEST(Reduce, ArgmaxReturnsFirstOfEqualElements) {
  const auto x = floats({2, 4}, {1, 5, 5, 1, 2, kNan, 9, kNan});
  EXPECT_EQ(run({{"x", x}}, "argmax(%x) {dim=1}"), positions({2}, {1, 1}));
  EXPECT_EQ(run({{"x", x}}, "argmax(%x) {dim=1, smallest=1, keepdim=1}"),
            positions({2, 1}, {0, 1}));
  EXPECT_TRUE(std::isnan(test::elements(run({{"x", x}}, "amin(%x) {dims=[1]}"))[1]));
  EXPECT_EQ(run({{"x", codes({3}, {-128, 127, 127})}}, "argmax(%x) {dim=0}"), positions({}, {1}));
}

TEST(Reduce, Integer) {
  EXPECT_EQ(run({{"x", codes({3}, {3, 5, -1})}},
                "qcumsum(%x) {dim=0, x_zp=1, y_zp=-3, mult=1073741824, shift=1, max=1}"),
            codes({3}, {-1, 1, 1}));
  // V = 2 * (100 + 196) - 24 * 24 = 16; times one quarter and times one half.
  const auto pair = codes({2}, {10, 14});
  EXPECT_EQ(run({{"x", pair}}, "qvariance(%x) {dims=[0], y_zp=-5, mult=1073741824, shift=-1}"),
            codes({}, {-1}));
  EXPECT_EQ(run({{"x", pair}}, "qvariance(%x) {dims=[0], y_zp=-5, mult=1073741824, shift=0}"),
            codes({}, {3}));
  // 512 elements, half of them 1, half -1: V = 512 * 512, p = 2, v = 2^16, times 2^-11.
  std::vector<int> alternating(512, 1);
  for (size_t i = 0; i < 512; i += 2) alternating[i] = -1;
  EXPECT_EQ(run({{"x", codes({512}, alternating)}},
                "qvariance(%x) {dims=[0], y_zp=0, mult=1073741824, shift=-10}"),
            codes({}, {32}));
}

TEST(Norms, Float) {
  // The standard deviation, with eps, is 1.25.
  const auto x = floats({1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(run({{"x", x}}, "layer_norm(%x, _, _) {dims=1, eps=0.3125}"),
            floats({1, 4}, {-1.2F, -0.4F, 0.4F, 1.2F}));
  EXPECT_EQ(run({{"x", x}, {"w", floats({4}, {5, 5, 10, 0})}, {"b", floats({4}, {0, 1, 0, 7})}},
                "layer_norm(%x, %w, %b) {dims=1, eps=0.3125}"),
            floats({1, 4}, {-6, -1, 4, 7}));
  // The mean of squares is 7.5.
  EXPECT_EQ(run({{"x", x}}, "rms_norm(%x, _) {dims=2, eps=8.5}"),
            floats({1, 4}, {0.25F, 0.5F, 0.75F, 1}));
  // Two groups of two channels with two positions each; w and b are per channel.
  EXPECT_EQ(run({{"x", floats({1, 4, 2}, {1, 2, 3, 4, 3, 3, 3, 3})},
                 {"w", floats({4}, {5, 10, 1, 1})},
                 {"b", floats({4}, {0, 1, 2, 3})}},
                "group_norm(%x, %w, %b) {groups=2, eps=0.3125}"),
            floats({1, 4, 2}, {-6, -2, 5, 13, 2, 2, 3, 3}));
}

TEST(Norms, Integer) {
  // D = -4 and 4, R = 16, (t, e) = (65535, -13), z = -65535 and 65535, times 2^-10.
  const auto x = codes({1, 2}, {10, 14});
  EXPECT_EQ(
      run({{"x", x}}, "qlayer_norm(%x, _, _) {dims=1, eps=0, y_zp=3, mult=1073741824, shift=-9}"),
      codes({1, 2}, {-61, 67}));
  const auto w = halves({16384, -32768});
  const auto b = words({2}, {0, 1000});
  EXPECT_EQ(run({{"x", x}, {"w", w, true}, {"b", b, true}},
                "qlayer_norm(%x, %w, %b) {dims=1, eps=0, y_zp=3, mult=1073741824, shift=-9}"),
            codes({1, 2}, {-29, -60}));
  // R = 16 + 3 * 2^4 = 64 halves both results.
  EXPECT_EQ(run({{"x", x}},
                "qlayer_norm(%x, _, _) {dims=1, eps=3, eps_shift=4, y_zp=3, "
                "mult=1073741824, shift=-9}"),
            codes({1, 2}, {-29, 35}));
  // Values minus zero point are 0 and 4: D = 0 and 8, R = 32, z = sqrt(2).
  EXPECT_EQ(run({{"x", x}},
                "qrms_norm(%x, _) {dims=1, eps=0, x_zp=10, y_zp=3, mult=1073741824, shift=-9}"),
            codes({1, 2}, {3, 94}));
  // Equal elements have deviation 0: the result is b.
  EXPECT_EQ(run({{"x", codes({1, 2}, {7, 7})}, {"b", words({2}, {-10240, 20480}), true}},
                "qgroup_norm(%x, _, %b) {groups=1, eps=0, y_zp=0, mult=1073741824, shift=-9}"),
            codes({1, 2}, {-10, 20}));
}

}  // namespace
}  // namespace thimble
