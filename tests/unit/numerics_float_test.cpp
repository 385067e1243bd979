// SPDX-License-Identifier: Apache-2.0
// numerics/float_math.h, compared with the C library in long double.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

#include "numerics/float_math.h"

namespace thimble::numerics {
namespace {

/// Returns the error in units in the last place of float32, after the rounding to float32.
double error_in_ulps(double found, long double expected) {
  const float size = std::max(std::fabs(static_cast<float>(expected)), 0x1p-126F);
  const float unit = std::nextafter(size, INFINITY) - size;
  const auto rounded = static_cast<long double>(static_cast<float>(found));
  return static_cast<double>(std::fabs(rounded - expected) / static_cast<long double>(unit));
}

TEST(FloatFunctions, AreWithinTheStatedErrorOfTheTrueValue) {
  struct Function {
    const char* name;
    double (*found)(double);
    long double (*expected)(long double);
    double low, high;
  };
  const Function functions[] = {
      {"asinh", asinh, [](long double x) { return std::asinh(x); }, -1e38, 1e38},
      {"atan", atan, [](long double x) { return std::atan(x); }, -1e38, 1e38},
      {"cos", [](double x) { return sine(x, 1); }, [](long double x) { return std::cos(x); },
       -0x1p20, 0x1p20},
      {"erf", erf, [](long double x) { return std::erf(x); }, -10, 10},
      {"exp", exp, [](long double x) { return std::exp(x); }, -85, 85},
      {"log", log, [](long double x) { return std::log(x); }, 1e-37, 1e38},
      {"sigmoid", sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, -85, 85},
      {"sin", [](double x) { return sine(x, 0); }, [](long double x) { return std::sin(x); },
       -0x1p20, 0x1p20},
      {"sqrt", sqrt, [](long double x) { return std::sqrt(x); }, 0, 1e38},
      {"tanh", tanh, [](long double x) { return std::tanh(x); }, -30, 30},
  };
  std::mt19937 random(1);
  for (const Function& function : functions) {
    double worst = 0;
    for (int i = 0; i < 200000; ++i) {
      // Half of the numbers have any exponent, the others are close to 1.
      float x = std::bit_cast<float>(static_cast<uint32_t>(random()));
      if (i % 2 == 0) x = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-28F;
      const auto value = static_cast<double>(x);
      if (!std::isnormal(x) || value < function.low || value > function.high) continue;
      worst = std::max(worst, error_in_ulps(function.found(value), function.expected(value)));
    }
    EXPECT_LT(worst, 0.51) << function.name;
    EXPECT_GT(worst, 0.4) << function.name << ": no number was compared";
    EXPECT_TRUE(std::isnan(function.found(std::nan("")))) << function.name;
  }
  EXPECT_EQ(atan(INFINITY), kPi / 2);
  EXPECT_EQ(asinh(-INFINITY), -INFINITY);
}

}  // namespace
}  // namespace thimble::numerics
