// SPDX-License-Identifier: Apache-2.0
// Each operator on values computed by hand.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/eval_support.h"

namespace thimble {
namespace {

using test::codes;
using test::elements;
using test::floats;
using test::run;
using test::words;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Elementwise, Float) {
  const auto a = floats({2, 2}, {1, 2, 3, 4});
  const auto b = floats({2}, {10, 20});
  const auto c = floats({2, 1}, {1, 2});
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "add(%a, %b)"), floats({2, 2}, {11, 22, 13, 24}));
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "sub(%b, %a)"), floats({2, 2}, {9, 18, 7, 16}));
  EXPECT_EQ(run({{"a", c}, {"b", b}}, "mul(%a, %b)"), floats({2, 2}, {10, 20, 20, 40}));
  EXPECT_EQ(run({{"x", floats({3}, {-1, 0.5, 9})}}, "clamp(%x) {min=0, max=6}"),
            floats({3}, {0, 0.5, 6}));
  EXPECT_TRUE(std::isnan(elements(run({{"x", floats({1}, {kNan})}}, "clamp(%x) {min=0}"))[0]));
  EXPECT_EQ(run({{"x", floats({3}, {0, kInf, -kInf})}}, "sigmoid(%x)"), floats({3}, {0.5, 1, 0}));
  EXPECT_EQ(run({{"x", floats({3}, {0, kInf, -kInf})}}, "tanh(%x)"), floats({3}, {0, 1, -1}));
  EXPECT_EQ(run({{"x", floats({1}, {1})}}, "tanh(%x)"), floats({1}, {0.76159416F}));
  EXPECT_EQ(run({{"x", floats({1, 2, 2}, {1, 2, 3, 4})},
                 {"s", floats({2}, {10, 100})},
                 {"t", floats({2}, {1, 2})}},
                "batch_norm(%x, %s, %t)"),
            floats({1, 2, 2}, {11, 21, 302, 402}));
}

TEST(Products, Float) {
  const auto a = floats({2, 2}, {1, 2, 3, 4});
  const auto b = floats({2, 3}, {1, 0, 2, 0, 1, 3});
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "matmul(%a, %b)"), floats({2, 3}, {1, 2, 8, 3, 4, 18}));
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "matmul(%a, %b) {scale=0.5}"),
            floats({2, 3}, {0.5, 1, 4, 1.5, 2, 9}));
  EXPECT_EQ(run({{"a", a}, {"b", a}}, "matmul(%a, %b) {transpose_b=1}"),
            floats({2, 2}, {5, 11, 11, 25}));
  // Batches [2, 1] and [2] broadcast to [2, 2]; every matrix is 1x1.
  EXPECT_EQ(run({{"a", floats({2, 1, 1, 1}, {2, 3})}, {"b", floats({2, 1, 1}, {5, 7})}},
                "matmul(%a, %b)"),
            floats({2, 2, 1, 1}, {10, 14, 15, 21}));
}

TEST(Products, Integer) {
  // Sums of (a - 1) (b - 2): 11, -2, 24, -4. Then times 1/2, halves away from zero, plus 3.
  const auto a = codes({2, 2}, {2, 3, 3, 5});
  const auto b = codes({2, 2}, {7, 2, 5, 1});
  EXPECT_EQ(run({{"a", a}, {"b", b}},
                "qmatmul(%a, %b) {a_zp=1, b_zp=2, y_zp=3, mult=1073741824, shift=0, max=14}"),
            codes({2, 2}, {9, 2, 14, 1}));
}

TEST(Choice, Gather) {
  const auto x = codes({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run({{"x", x}, {"i", words({3}, {1, 0, 1})}}, "gather(%x, %i) {dim=0}"),
            codes({3, 3}, {4, 5, 6, 1, 2, 3, 4, 5, 6}));
  // -1 is the last position; 9 and -9 are beyond the ends.
  EXPECT_EQ(run({{"x", x}, {"i", words({1, 3}, {-1, 9, -9})}}, "gather(%x, %i) {dim=1}"),
            codes({2, 1, 3}, {3, 3, 1, 6, 6, 4}));
  EXPECT_EQ(run({{"x", x}, {"i", words({1, 3}, {1, 0, -1})}}, "gather_elements(%x, %i) {dim=0}"),
            codes({1, 3}, {4, 2, 6}));
  EXPECT_EQ(run({{"x", x}, {"i", words({2, 1}, {2, -7})}}, "gather_elements(%x, %i) {dim=1}"),
            codes({2, 1}, {3, 4}));
}

TEST(QuantizeAndDequantize, Quantize) {
  // Ties round to even: 0.5 and 2.5 steps. Values saturate. NaN gives 0, thus the zero point.
  EXPECT_EQ(run({{"x", floats({7}, {0.25, 0.75, 1.25, -0.25, 1e30F, -kInf, kNan})}},
                "quantize(%x) {scale=0.5, zero_point=-3}"),
            codes({7}, {-3, -1, -1, -3, 127, -128, -3}));
  EXPECT_EQ(run({{"x", codes({3}, {-128, -3, 127})}}, "dequantize(%x) {scale=0.5, zero_point=-3}"),
            floats({3}, {-62.5, 0, 65}));
  // The reciprocal is rounded to float32 before the product: 1.1 * (1 / 0.1f) is 11.000001.
  EXPECT_EQ(run({{"x", floats({1}, {1.1F})}}, "quantize(%x) {scale=0.1, zero_point=0}"),
            codes({1}, {11}));
}

TEST(Elementwise, Lut) {
  std::vector<int> table(256);
  for (int i = 0; i < 256; ++i) table[static_cast<size_t>(i)] = 127 - i;  // y = -1 - x
  EXPECT_EQ(
      run({{"x", codes({3}, {-128, 0, 127})}, {"t", codes({256}, table), true}}, "lut(%x, %t)"),
      codes({3}, {127, -1, -128}));
}

TEST(Elementwise, IntegerSums) {
  // Both scales are 1, the result's scale is 2: m = 2, multipliers 0.5, 0.5 and
  // 2 / (2^20 * 2) = 2^-20. Result: ((a - 1) + (b - 2)) / 2 + 3, halves away from zero.
  const std::string attrs =
      "{a_zp=1, a_mult=1073741824, a_shift=0, b_zp=2, b_mult=1073741824, b_shift=0, y_zp=3, "
      "y_mult=1073741824, y_shift=-19, min=-100, max=100}";
  const auto a = codes({5}, {1, 2, 0, 127, -128});
  const auto b = codes({5}, {2, 2, 2, 127, -128});
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "qadd(%a, %b) " + attrs), codes({5}, {3, 4, 2, 100, -100}));
  // Result: ((a - 1) - (b - 2)) / 2 + 3.
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "qsub(%a, %b) " + attrs), codes({5}, {3, 4, 2, 4, 4}));
  // Broadcast; the order of the operands matters.
  EXPECT_EQ(
      run({{"a", codes({2, 1}, {11, 21})}, {"b", codes({2}, {2, 12})}}, "qsub(%a, %b) " + attrs),
      codes({2, 2}, {8, 3, 13, 8}));
}

TEST(Elementwise, IntegerProducts) {
  // Real multiplier 2^-3.
  EXPECT_EQ(run({{"a", codes({4}, {5, 127, -128, 3})}, {"b", codes({4}, {6, 127, 127, 4})}},
                "qmul(%a, %b) {a_zp=1, b_zp=2, y_zp=3, mult=1073741824, shift=-2, min=-128, "
                "max=120}"),
            codes({4}, {5, 120, -128, 4}));  // 16/8+3, maximum, minimum, 4/8 away from zero + 3
}

TEST(Pools, Max) {
  const auto x = floats({1, 1, 2, 3}, {1, 5, 2, -1, -2, kNan});
  const auto y = run({{"x", x}},
                     "max_pool2d(%x) {kernel=[2,2], stride=[1,1], padding=[0,0,0,0], "
                     "dilation=[1,1]}");
  EXPECT_EQ(elements(y)[0], 5);
  EXPECT_TRUE(std::isnan(elements(y)[1]));
  // Padding is never the maximum, even if all elements are negative.
  EXPECT_EQ(run({{"x", codes({1, 1, 1, 2}, {-5, -7})}},
                "max_pool2d(%x) {kernel=[3,3], stride=[1,1], padding=[1,1,1,1], dilation=[1,1]}"),
            codes({1, 1, 1, 2}, {-5, -5}));
  EXPECT_EQ(run({{"x", codes({1, 1, 1, 5}, {1, 2, 3, 4, 5})}},
                "max_pool2d(%x) {kernel=[1,2], stride=[1,2], padding=[0,0,0,0], dilation=[1,2]}"),
            codes({1, 1, 1, 2}, {3, 5}));
}

TEST(Pools, Average) {
  // The corner window covers one element, the next window two.
  EXPECT_EQ(run({{"x", floats({1, 1, 1, 3}, {2, 4, 9})}},
                "avg_pool2d(%x) {kernel=[2,2], stride=[1,1], padding=[1,1,0,0]}"),
            floats({1, 1, 1, 3}, {2, 3, 6.5}));
  // Halves round away from zero: 3 / 2 = 2, -3 / 2 = -2.
  EXPECT_EQ(run({{"x", codes({1, 2, 1, 2}, {1, 2, -1, -2})}},
                "qavg_pool2d(%x) {kernel=[1,2], stride=[1,1], padding=[0,0,0,0]}"),
            codes({1, 2, 1, 1}, {2, -2}));
  EXPECT_EQ(run({{"x", codes({1, 1, 1, 3}, {-10, 100, 7})}},
                "qavg_pool2d(%x) {kernel=[1,1], stride=[1,1], padding=[0,0,0,0], min=0, max=50}"),
            codes({1, 1, 1, 3}, {0, 50, 7}));
}

TEST(Means, FloatAndInteger) {
  const auto x = floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run({{"x", x}}, "mean(%x) {dims=[1]}"), floats({2, 2}, {2, 3, 6, 7}));
  EXPECT_EQ(run({{"x", x}}, "mean(%x) {dims=[2,0], keepdim=1}"), floats({1, 2, 1}, {3.5, 5.5}));
  EXPECT_EQ(run({{"x", x}}, "mean(%x) {dims=[0,1,2]}"), floats({}, {4.5}));
  // Sums of (x - 1): 0 + 1 + 2 + 3 = 6, and 24. Real multiplier 1/4; 1.5 rounds to 2.
  EXPECT_EQ(run({{"x", codes({2, 4}, {1, 2, 3, 4, 1, 7, 9, 11})}},
                "qmean(%x) {dims=[1], x_zp=1, y_zp=-3, mult=1073741824, shift=-1}"),
            codes({2}, {-1, 3}));
}

TEST(Movement, Shapes) {
  const auto x = codes({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run({{"x", x}}, "copy(%x)"), x);
  EXPECT_EQ(run({{"x", x}}, "reshape(%x) {shape=[3,2]}"), codes({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(run({{"x", x}}, "permute(%x) {dims=[1,0]}"), codes({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(run({{"x", words({1, 2, 2}, {1, 2, 3, 4})}}, "permute(%x) {dims=[2,0,1]}"),
            words({2, 1, 2}, {1, 3, 2, 4}));
  EXPECT_EQ(run({{"x", codes({2, 1}, {1, 2})}}, "expand(%x) {shape=[2,2,3]}"),
            codes({2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(run({{"x", x}}, "slice(%x) {dim=1, start=0, end=3, step=2}"),
            codes({2, 2}, {1, 3, 4, 6}));
  EXPECT_EQ(run({{"x", x}}, "slice(%x) {dim=0, start=1, end=2}"), codes({1, 3}, {4, 5, 6}));
}

TEST(Movement, ConcatAndPad) {
  const auto a = floats({2, 1}, {1, 2});
  const auto b = floats({2, 2}, {3, 4, 5, 6});
  EXPECT_EQ(run({{"a", a}, {"b", b}}, "concat(%a, %b, %a) {dim=1}"),
            floats({2, 4}, {1, 3, 4, 1, 2, 5, 6, 2}));
  EXPECT_EQ(run({{"b", b}}, "concat(%b, %b) {dim=0}"), floats({4, 2}, {3, 4, 5, 6, 3, 4, 5, 6}));
  EXPECT_EQ(run({{"a", a}}, "pad(%a) {before=[0,1], after=[1,0], value=-inf}"),
            floats({3, 2}, {-kInf, 1, -kInf, 2, -kInf, -kInf}));
  EXPECT_EQ(run({{"x", codes({2}, {1, 2})}}, "pad(%x) {before=[2], after=[1], value=-7}"),
            codes({5}, {-7, -7, 1, 2, -7}));
  EXPECT_EQ(run({{"x", words({1}, {1})}}, "pad(%x) {before=[1], after=[0], value=100000}"),
            words({2}, {100000, 1}));
}

}  // namespace
}  // namespace thimble
