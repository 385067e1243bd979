// SPDX-License-Identifier: Apache-2.0
// Integer softmax and log-softmax, compared with the real functions, and with numerics/softmax.h
// bit for bit.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "numerics/multiplier.h"
#include "numerics/softmax.h"
#include "tests/unit/eval_support.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble {
namespace {

using test::elements;
using test::floats;
using test::run;

numerics::Softmax parameters(double scale) {
  const auto m = numerics::quantize_multiplier(std::min(scale * 0x1p26, 0x1p31 - 1));
  const double diff_min = -std::floor(31 * 0x1p26 / std::ldexp(1.0, m.shift));
  return {m.mult, m.shift, static_cast<int32_t>(diff_min)};
}

ir::Tensor softmax(const ir::Tensor& x, int64_t dim, const numerics::Softmax& p) {
  return run({{"x", x}}, fmt::format("qsoftmax(%x) {{dim={}, mult={}, shift={}, diff_min={}}}", dim,
                                     p.mult, p.shift, p.diff_min));
}

std::vector<double> real_softmax(const std::vector<double>& x) {
  const double maximum = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double value : x) sum += std::exp(value - maximum);
  std::vector<double> result;
  for (const double value : x) result.push_back(std::exp(value - maximum) / sum);
  return result;
}

TEST(Softmax, IntegerIsWithinOneStepOfFloat) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const double scale = std::exp(random.real(std::log(1e-3), std::log(2.0)));
    const auto x = test::random_tensor(random, ir::DType::kI8, {random.between(1, 200)});
    std::vector<double> real;
    for (const double code : elements(x)) real.push_back(code * scale);
    const auto expected = real_softmax(real);
    const auto found = elements(softmax(x, 0, parameters(scale)));
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_NEAR(found[i], std::min(expected[i] * 256 - 128, 127.0), 1.0) << i;
    }
  }
}

TEST(Softmax, IntegerEqualsNumerics) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    // With long rows and tiny scales, sums are so large that every output is -128.
    const double scale = std::exp(random.real(std::log(1e-7), std::log(40.0)));
    const int64_t length = random.chance(10) ? 5000 : random.between(1, 600);
    const auto p = parameters(scale);
    const auto x = test::random_tensor(random, ir::DType::kI8, {length});
    ir::Tensor expected = x;
    p.row(x.data<int8_t>().data(), static_cast<int32_t>(length), expected.data<int8_t>().data());
    ASSERT_EQ(softmax(x, 0, p), expected) << "scale " << scale << " length " << length;
  }
}

TEST(Softmax, IntegerByHand) {
  // Two equal values: 1/2 each, quantized 0. A single value: 1, which saturates to 127.
  const auto p = parameters(0.1);
  EXPECT_EQ(softmax(test::codes({2}, {5, 5}), 0, p), test::codes({2}, {0, 0}));
  EXPECT_EQ(softmax(test::codes({1}, {-9}), 0, p), test::codes({1}, {127}));
  // A value far below the maximum is left out of the sum.
  EXPECT_EQ(softmax(test::codes({2}, {127, -128}), 0, parameters(1.0)),
            test::codes({2}, {127, -128}));
  // 512 equal values: 1/512 each, less than half a step.
  EXPECT_EQ(softmax(test::codes({512}, std::vector<int>(512, 3)), 0, p),
            test::codes({512}, std::vector<int>(512, -128)));
}

TEST(Softmax, RowsRunAlongTheDimension) {
  test::Random random(9);
  const auto x = test::random_tensor(random, ir::DType::kI8, {2, 5, 3});
  const auto p = parameters(0.05);
  const std::vector<int64_t> to_last{0, 2, 1};
  EXPECT_EQ(ir::permuted(softmax(x, 1, p), to_last), softmax(ir::permuted(x, to_last), 2, p));
}

TEST(Softmax, Float) {
  const auto y = elements(run({{"x", floats({3}, {1, 2, 3})}}, "softmax(%x) {dim=0}"));
  EXPECT_NEAR(y[0], 0.09003057, 1e-7);
  EXPECT_NEAR(y[1], 0.24472847, 1e-7);
  EXPECT_NEAR(y[2], 0.66524096, 1e-7);
  EXPECT_EQ(run({{"x", floats({2, 2}, {1000, 1000, -1000, -1000})}}, "softmax(%x) {dim=1}"),
            floats({2, 2}, {0.5, 0.5, 0.5, 0.5}));
  const auto log = elements(run({{"x", floats({3}, {1, 2, 3})}}, "log_softmax(%x) {dim=0}"));
  EXPECT_NEAR(log[0], -2.4076059, 1e-6);
  EXPECT_NEAR(log[2], -0.4076059, 1e-6);
}

TEST(LogSoftmax, IntegerIsCloseToFloat) {
  constexpr double kOutputScale = 16.0 / 256;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    test::Random random(seed);
    const double scale = std::exp(random.real(std::log(1e-3), std::log(0.5)));
    const int64_t length = random.chance(10) ? 2047 : random.between(1, 100);
    const auto x = test::random_tensor(random, ir::DType::kI8, {length});
    std::vector<int32_t> table;
    for (int k = 0; k < 256; ++k) {
      table.push_back(static_cast<int32_t>(std::round(std::exp(-k * scale) * 0x1p20)));
    }
    const auto step = numerics::quantize_multiplier(scale / kOutputScale);
    const auto log = numerics::quantize_multiplier(std::log(2.0) / 65536 / kOutputScale);
    const auto y = run({{"x", x}, {"t", test::words({256}, table), true}},
                       fmt::format("qlog_softmax(%x, %t) {{dim=0, scale_mult={}, scale_shift={}, "
                                   "log_mult={}, log_shift={}, y_zp=127}}",
                                   step.mult, step.shift, log.mult, log.shift));
    std::vector<double> real;
    for (const double code : elements(x)) real.push_back(code * scale);
    const auto expected = real_softmax(real);
    const auto found = elements(y);
    for (size_t i = 0; i < found.size(); ++i) {
      const double code = std::log(expected[i]) / kOutputScale + 127;
      // Half a step for each of the two terms, up to a quarter more where x - M is rounded twice,
      // plus the error of the table's 20 bits.
      ASSERT_NEAR(found[i], std::max(code, -128.0), 1.27) << i;
    }
  }
}

TEST(Softmax, MaskedValuesAreIgnored) {
  // Scale 1/16: equal to the softmax of the unmasked values, and -128 elsewhere.
  const std::string attrs = " {dim=1, mult=1073741824, shift=23, diff_min=-248}";
  const auto whole = test::run({{"x", test::codes({1, 3}, {10, 20, 5})}}, "qsoftmax(%x)" + attrs);
  const auto y = test::elements(whole);
  const auto code = [&](size_t i) { return static_cast<int>(y[i]); };
  EXPECT_EQ(
      test::run({{"x", test::codes({2, 5}, {10, -128, 20, 5, -128, -128, -128, -128, -128, -128})}},
                "qmasked_softmax(%x)" + attrs),
      test::codes({2, 5}, {code(0), -128, code(1), code(2), -128, -128, -128, -128, -128, -128}));
}

}  // namespace
}  // namespace thimble
