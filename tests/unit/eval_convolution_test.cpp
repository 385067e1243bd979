// SPDX-License-Identifier: Apache-2.0
// Convolution, compared with its definition: one loop per index of the formula.

#include <gtest/gtest.h>

#include "eval/arithmetic.h"
#include "tests/unit/eval_support.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble {
namespace {

using ir::Shape;
using test::codes;
using test::elements;
using test::floats;
using test::run;
using test::words;

struct Case {
  Shape x, w;
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups;

  std::string attributes() const {
    return fmt::format("stride={}, padding={}, dilation={}, groups={}", ir::list_text(stride),
                       ir::list_text(padding), ir::list_text(dilation), groups);
  }
};

/// Returns the sum of (x - zero_point) * w over the window of one result position; x is NCHW.
double window_sum(const Case& c, const std::vector<double>& x, const std::vector<double>& w,
                  double zero_point, int64_t o, int64_t y, int64_t column) {
  const int64_t depth = c.w[1];
  const int64_t group = o / (c.w[0] / c.groups);
  double sum = 0;
  for (int64_t i = 0; i < depth; ++i) {
    for (int64_t ky = 0; ky < c.w[2]; ++ky) {
      for (int64_t kx = 0; kx < c.w[3]; ++kx) {
        const int64_t in_y = y * c.stride[0] - c.padding[0] + ky * c.dilation[0];
        const int64_t in_x = column * c.stride[1] - c.padding[1] + kx * c.dilation[1];
        if (in_y < 0 || in_y >= c.x[2] || in_x < 0 || in_x >= c.x[3]) continue;
        const int64_t from = ((group * depth + i) * c.x[2] + in_y) * c.x[3] + in_x;
        const int64_t weight = ((o * depth + i) * c.w[2] + ky) * c.w[3] + kx;
        sum += (x[static_cast<size_t>(from)] - zero_point) * w[static_cast<size_t>(weight)];
      }
    }
  }
  return sum;
}

std::vector<double> by_definition(const Case& c, const ir::Tensor& x, const ir::Tensor& w,
                                  const ir::Tensor& b, double zero_point, const Shape& y) {
  std::vector<double> result;
  const auto xs = elements(x);
  const auto ws = elements(w);
  const auto bs = elements(b);
  for (int64_t o = 0; o < y[1]; ++o) {
    for (int64_t row = 0; row < y[2]; ++row) {
      for (int64_t column = 0; column < y[3]; ++column) {
        result.push_back(bs[static_cast<size_t>(o)] +
                         window_sum(c, xs, ws, zero_point, o, row, column));
      }
    }
  }
  return result;
}

Case random_case(test::Random& random) {
  const int64_t groups = random.between(1, 3);
  const auto pair = [&](int64_t high) {
    return std::vector<int64_t>{random.between(1, high), random.between(1, high)};
  };
  Case c;
  c.groups = groups;
  c.x = {1, groups * random.between(1, 3), random.between(6, 9), random.between(6, 9)};
  c.w = {groups * random.between(1, 3), c.x[1] / groups, random.between(1, 3),
         random.between(1, 3)};
  c.stride = pair(3);
  c.dilation = pair(2);
  // Padding may exceed the kernel: at such positions the result is the bias.
  for (int i = 0; i < 4; ++i) c.padding.push_back(random.between(0, 4));
  return c;
}

TEST(Convolution, FloatEqualsItsDefinition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const Case c = random_case(random);
    const auto x = test::random_tensor(random, ir::DType::kF32, c.x);
    const auto w = test::random_tensor(random, ir::DType::kF32, c.w);
    const auto b = test::random_tensor(random, ir::DType::kF32, {c.w[0]});
    const auto y = run({{"x", x}, {"w", w}, {"b", b}},
                       fmt::format("conv2d(%x, %w, %b) {{{}}}", c.attributes()));
    const auto expected = by_definition(c, x, w, b, 0, y.shape);
    const auto found = elements(y);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      // Both sums are in double; the result is rounded to float32 once.
      ASSERT_NEAR(found[i], expected[i], std::abs(expected[i]) * 6e-8 + 1e-10);
    }
  }
}

TEST(Convolution, IntegerEqualsItsDefinition) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const Case c = random_case(random);
    const auto x = test::random_tensor(random, ir::DType::kI8, c.x);
    const auto w = test::random_tensor(random, ir::DType::kI8, c.w);
    const bool per_channel = random.chance(50);
    std::vector<int32_t> bias, mult, shift;
    for (int64_t o = 0; o < c.w[0]; ++o) {
      bias.push_back(static_cast<int32_t>(random.between(-20000, 20000)));
      if (!per_channel && o > 0) continue;
      mult.push_back(static_cast<int32_t>(random.between(1 << 30, INT32_MAX)));
      shift.push_back(static_cast<int32_t>(random.between(-12, -6)));
    }
    const int64_t entries = static_cast<int64_t>(mult.size());
    const int64_t x_zp = random.between(-128, 127);
    const int64_t y_zp = random.between(-128, 127);
    const int64_t rounding = random.between(0, 1);
    const auto b = words({c.w[0]}, bias);
    const auto y = run({{"x", x},
                        {"w", w},
                        {"b", b},
                        {"m", words({entries}, mult), true},
                        {"s", words({entries}, shift), true}},
                       fmt::format("qconv2d(%x, %w, %b, %m, %s) {{{}, x_zp={}, y_zp={}, min=-100, "
                                   "max=90, rounding={}}}",
                                   c.attributes(), x_zp, y_zp, rounding));
    const auto sums = by_definition(c, x, w, b, static_cast<double>(x_zp), y.shape);
    const auto found = elements(y);
    ASSERT_EQ(found.size(), sums.size());
    const size_t plane = sums.size() / static_cast<size_t>(c.w[0]);
    for (size_t i = 0; i < found.size(); ++i) {
      const size_t o = per_channel ? i / plane : 0;
      const int64_t scaled = eval::requantize(static_cast<int64_t>(sums[i]), mult[o], shift[o],
                                              static_cast<eval::Rounding>(rounding));
      ASSERT_EQ(found[i], static_cast<double>(eval::clamp(scaled + y_zp, -100, 90)));
    }
  }
}

TEST(Convolution, ByHand) {
  // Input 1 2   Kernel 1 -1. In the last column, the right neighbour is padding.
  //       3 4
  const auto y = run({{"x", floats({1, 1, 2, 2}, {1, 2, 3, 4})},
                      {"w", floats({1, 1, 1, 2}, {1, -1})},
                      {"b", floats({1}, {10})}},
                     "conv2d(%x, %w, %b) {stride=[1,1], padding=[0,0,0,1], dilation=[1,1]}");
  EXPECT_EQ(y, floats({1, 1, 2, 2}, {9, 12, 9, 14}));
}

TEST(Convolution, BatchesAreIndependent) {
  const auto y = run({{"x", floats({2, 1, 1, 2}, {1, 2, 3, 4})}, {"w", floats({1, 1, 1, 1}, {2})}},
                     "conv2d(%x, %w, _) {stride=[1,1], padding=[0,0,0,0], dilation=[1,1]}");
  EXPECT_EQ(y, floats({2, 1, 1, 2}, {2, 4, 6, 8}));
}

TEST(Convolution, PaddingOfAnIntegerInputIsItsZeroPoint) {
  // One element 7 with zero point 5 and a 3x3 kernel of ones: (7 - 5) * 1 * 1.0 + 1.
  const auto y = run({{"x", codes({1, 1, 1, 1}, {7})},
                      {"w", codes({1, 1, 3, 3}, std::vector<int>(9, 1))},
                      {"m", words({1}, {1 << 30}), true},
                      {"s", words({1}, {1}), true}},
                     "qconv2d(%x, %w, _, %m, %s) {stride=[1,1], padding=[1,1,1,1], "
                     "dilation=[1,1], x_zp=5, y_zp=1, min=-128, max=127}");
  EXPECT_EQ(y, codes({1, 1, 1, 1}, {3}));
}

TEST(Linear, ByHand) {
  EXPECT_EQ(run({{"x", floats({2, 1, 2}, {1, 2, 3, 4})},
                 {"w", floats({3, 2}, {1, 0, 0, 1, 1, 1})},
                 {"b", floats({3}, {0.5, 0, -1})}},
                "linear(%x, %w, %b)"),
            floats({2, 1, 3}, {1.5, 2, 2, 3.5, 4, 6}));
  // Accumulators 2*1 + 4*3 + 6 = 20 and 2*-1 + 4*2 - 6 = 0. Real multipliers 0.5 and 2. 20 is
  // clamped.
  EXPECT_EQ(run({{"x", codes({2}, {3, 5})},
                 {"w", codes({2, 2}, {1, 3, -1, 2})},
                 {"b", words({2}, {6, -6})},
                 {"m", words({2}, {1 << 30, 1 << 30}), true},
                 {"s", words({2}, {0, 2}), true}},
                "qlinear(%x, %w, %b, %m, %s) {x_zp=1, y_zp=-3, min=-10, max=5}"),
            codes({2}, {5, -3}));
}

}  // namespace
}  // namespace thimble
