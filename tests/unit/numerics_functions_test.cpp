// SPDX-License-Identifier: Apache-2.0
// numerics/softmax.h and log2.h, compared with the real functions, with definitions written
// independently from docs/numerics.md, and with recorded results of CMSIS-NN.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "numerics/log2.h"
#include "numerics/multiplier.h"
#include "numerics/softmax.h"

namespace thimble::numerics {
namespace {

Softmax softmax_of(double scale) {
  const Multiplier m = quantize_multiplier(std::min(scale * 0x1p26, 2147483647.0));
  const int32_t diff_min = -static_cast<int32_t>(std::floor(std::ldexp(31.0 * 0x1p26, -m.shift)));
  return {m.mult, m.shift, diff_min};
}

TEST(ExpOnNegative, IsCloseToExpAndEqualsCmsisNn) {
  EXPECT_EQ(exp_on_negative(0), INT32_MAX);
  EXPECT_EQ(exp_on_negative(-1), 2147483124);
  EXPECT_EQ(exp_on_negative(-1000), 2147451157);
  EXPECT_EQ(exp_on_negative(-(1 << 24)), 1672462419);
  EXPECT_EQ(exp_on_negative(-(1 << 26)), 790015308);
  EXPECT_EQ(exp_on_negative(-100000000), 483927985);
  EXPECT_EQ(exp_on_negative(-1000000000), 725);
  EXPECT_EQ(exp_on_negative(INT32_MIN), 0);
  for (int64_t x = -(int64_t{1} << 31); x <= 0; x += 1009) {
    const double exact = std::exp(static_cast<double>(x) * 0x1p-26) * 0x1p31;
    ASSERT_NEAR(exp_on_negative(static_cast<int32_t>(x)), exact, 1024) << x;
  }
}

TEST(ExpOnNegative, IsAboveOneHalfForLastQuarter) {
  for (int32_t x = -(1 << 24); x <= 0; ++x) ASSERT_GT(exp_on_negative(x), 1 << 30) << x;
}

TEST(OneOverOnePlusX, IsCloseToQuotientAndEqualsCmsisNn) {
  EXPECT_EQ(one_over_one_plus_x(0), 2147483647);
  EXPECT_EQ(one_over_one_plus_x(1), 2147483647);
  EXPECT_EQ(one_over_one_plus_x(1 << 20), 2146435584);
  EXPECT_EQ(one_over_one_plus_x(1 << 30), 1431655762);
  EXPECT_EQ(one_over_one_plus_x(INT32_MAX), 1073741820);
  for (int64_t x = 0; x <= INT32_MAX; x += 997) {
    const double exact = 0x1p31 / (1.0 + static_cast<double>(x) * 0x1p-31);
    ASSERT_NEAR(one_over_one_plus_x(static_cast<int32_t>(x)), exact, 16) << x;
  }
}

TEST(SoftmaxRow, EqualsCmsisNn) {
  const std::vector<int8_t> spread = {-128, -90, -17, -3, 0, 1, 44, 60, 99, 127};
  const std::vector<int8_t> hill = {5, 6, 7, 8, 9, 10, 9, 8, 7, 6};
  const struct {
    double scale;
    const std::vector<int8_t>& x;
    std::vector<int8_t> y;
  } cases[] = {
      {1.0 / 16, spread, {-128, -128, -128, -128, -128, -128, -127, -125, -91, 86}},
      {1.0 / 16, hill, {-106, -105, -103, -102, -100, -98, -100, -102, -103, -105}},
      {0.1, spread, {-128, -128, -128, -128, -128, -128, -128, -128, -113, 113}},
      {0.1, hill, {-108, -106, -104, -101, -99, -95, -99, -101, -104, -106}},
      {1.5, spread, {-128, -128, -128, -128, -128, -128, -128, -128, -128, 127}},
      {1.5, hill, {-128, -128, -126, -120, -92, 35, -92, -120, -126, -128}},
  };
  for (const auto& c : cases) {
    std::vector<int8_t> y(c.x.size());
    softmax_of(c.scale).row(c.x.data(), static_cast<int32_t>(y.size()), y.data());
    EXPECT_EQ(y, c.y) << "scale " << c.scale;
  }
}

TEST(SoftmaxRow, IsWithinOneOfTheRealFunction) {
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 12) - 9) * 1.37;
    std::vector<int8_t> x(random() % 200 + 1);
    for (int8_t& code : x) code = static_cast<int8_t>(random());
    std::vector<int8_t> y(x.size());
    softmax_of(scale).row(x.data(), static_cast<int32_t>(x.size()), y.data());
    double sum = 0;
    for (const int8_t code : x) sum += std::exp(scale * code);
    for (size_t k = 0; k < x.size(); ++k) {
      const double exact = std::min(127.0, std::exp(scale * x[k]) / sum * 256 - 128);
      ASSERT_NEAR(y[k], exact, 1.0) << "scale " << scale << " row " << i << " column " << k;
    }
  }
}

TEST(SoftmaxRow, LongRowsSaturateAtZero) {
  for (const int32_t count : {511, 512, 513, 4095, 4096, 8192, 100000}) {
    std::vector<int8_t> x(static_cast<size_t>(count), 3);
    std::vector<int8_t> y(x.size());
    softmax_of(0.1).row(x.data(), count, y.data());
    for (const int8_t code : y) ASSERT_EQ(code, count < 512 ? -127 : -128) << count;
    // One distinct maximum has a probability above 0 in a row of any length.
    x[7] = 127;
    softmax_of(1.0).row(x.data(), count, y.data());
    EXPECT_EQ(y[7], 127);
    EXPECT_EQ(y[8], -128);
  }
}

TEST(SoftmaxRow, WorksInPlaceAndWithTheLargestScale) {
  std::vector<int8_t> x = {1, 2, 3};
  std::vector<int8_t> y(3);
  softmax_of(0.25).row(x.data(), 3, y.data());
  softmax_of(0.25).row(x.data(), 3, x.data());
  EXPECT_EQ(x, y);
  const Softmax steep = softmax_of(1000.0);
  EXPECT_EQ(steep.shift, 31);
  std::vector<int8_t> codes = {1, 2, 2};
  steep.row(codes.data(), 3, codes.data());
  EXPECT_EQ(codes, (std::vector<int8_t>{-128, 0, 0}));
}

// docs/numerics.md, "Softmax", in 64 bits and with divisions in place of shifts.
int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
int64_t wrap32(int64_t value) {
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}
int64_t sat32(int64_t value) {
  return std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
}
int64_t mul(int64_t a, int64_t b) {
  return sat32(floor_divide(a * b + (int64_t{1} << 30), int64_t{1} << 31));
}
int64_t divide_half_away(int64_t a, int64_t n) {
  if (n >= 32) return 0;
  const int64_t half = (int64_t{1} << n) / 2;
  return (a + (a < 0 ? -half : half)) / (int64_t{1} << n);
}

int64_t exp_by_definition(int64_t a) {
  if (a == 0) return INT32_MAX;
  constexpr int64_t kQuarter = 1 << 24;
  constexpr int64_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                  39332535,   720401,     242};
  const int64_t r = a - floor_divide(a, kQuarter) * kQuarter - kQuarter;
  int64_t k = (r - a) / kQuarter;
  const int64_t x = r * 32 + (1 << 28);
  const int64_t x2 = mul(x, x);
  const int64_t x3 = mul(x2, x);
  const int64_t x4 = mul(x2, x2);
  const int64_t third = mul(divide_half_away(x4, 2) + x3, 715827883);
  const int64_t t = x + divide_half_away(third + x2, 1);
  int64_t result = 1895147668 + mul(1895147668, t);
  for (const int64_t factor : kFactors) {
    if (floor_divide(k, 2) * 2 != k) result = mul(result, factor);
    k = floor_divide(k, 2);
  }
  return result;
}

int64_t one_over_one_plus_by_definition(int64_t v) {
  const int64_t h = (v + INT32_MAX + 1) / 2;
  int64_t y = 1515870810 + mul(h, -1010580540);
  for (int step = 0; step < 3; ++step) y += sat32(4 * mul(y, (int64_t{1} << 29) - mul(h, y)));
  return sat32(2 * y);
}

std::vector<int8_t> softmax_by_definition(const Softmax& softmax, const std::vector<int8_t>& x) {
  const int64_t maximum = *std::max_element(x.begin(), x.end());
  const auto contributes = [&](int64_t code) {
    return code >= softmax.lowest && code - maximum >= softmax.diff_min;
  };
  const auto e = [&](int64_t code) {
    return exp_by_definition(
        mul(wrap32((code - maximum) * (int64_t{1} << softmax.shift)), softmax.mult));
  };
  int64_t sum = 0;
  for (const int8_t code : x) sum += contributes(code) ? divide_half_away(e(code), 12) : 0;
  sum = std::min(sum, int64_t{1} << 31);
  std::vector<int8_t> y(x.size(), -128);
  if (sum == 0) return y;
  int64_t headroom = 0;
  while (sum << headroom < int64_t{1} << 31) ++headroom;
  const int64_t scale = one_over_one_plus_by_definition((sum << headroom) - (int64_t{1} << 31));
  for (size_t i = 0; i < x.size(); ++i) {
    if (!contributes(x[i])) continue;
    const int64_t value = divide_half_away(mul(scale, e(x[i])), 35 - headroom) - 128;
    y[i] = static_cast<int8_t>(std::clamp<int64_t>(value, -128, 127));
  }
  return y;
}

// Parameters of a damaged file too: any multiplier, any shift, any limit.
TEST(SoftmaxRow, EqualsItsDefinitionForAnyParameters) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const Softmax odd = {static_cast<int32_t>(random()), static_cast<int32_t>(random() % 32),
                         -static_cast<int32_t>(random() % 300), i % 2 == 0 ? -128 : -127};
    std::vector<int8_t> x(random() % 20 == 0 ? 700 : random() % 20 + 1);
    const bool is_flat = random() % 8 == 0;
    for (int8_t& code : x) code = is_flat ? int8_t{-128} : static_cast<int8_t>(random());
    const std::vector<int8_t> wanted = softmax_by_definition(odd, x);
    std::vector<int8_t> y(x.size());
    odd.row(x.data(), static_cast<int32_t>(x.size()), y.data());
    ASSERT_EQ(y, wanted) << "row " << i << ": " << odd.mult << ", " << odd.shift << ", "
                         << odd.diff_min;
    odd.row(x.data(), static_cast<int32_t>(x.size()), x.data());
    ASSERT_EQ(x, wanted) << "row " << i << ", in place";
  }
}

int32_t log2_by_definition(uint32_t sum) {
  int n = 0;
  while ((uint64_t{1} << (n + 1)) <= sum) ++n;
  uint64_t m = uint64_t{sum} * (uint64_t{1} << (31 - n));
  int32_t fraction = 0;
  for (int bit = 15; bit >= 0; --bit) {
    const uint64_t squared = m * m / (uint64_t{1} << 31);
    const bool one = squared >= uint64_t{1} << 32;
    fraction += one ? 1 << bit : 0;
    m = one ? squared / 2 : squared;
  }
  return n * 65536 + fraction;
}

TEST(Log2Fixed, EqualsDefinitionAndIsCloseToLog2) {
  const auto check = [](uint32_t value) {
    ASSERT_EQ(log2_fixed(value), log2_by_definition(value)) << value;
    const double exact = std::log2(static_cast<double>(value)) * 65536;
    ASSERT_LE(log2_fixed(value), exact + 1e-6) << value;
    ASSERT_GT(log2_fixed(value), exact - 2) << value;
  };
  for (uint32_t value = 1; value < 200000; ++value) check(value);
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) check((static_cast<uint32_t>(random()) >> (random() % 32)) | 1U);
  for (int bit = 0; bit < 32; ++bit) EXPECT_EQ(log2_fixed(1U << bit), bit << 16);
  EXPECT_EQ(log2_fixed(UINT32_MAX), (32 << 16) - 1);
  EXPECT_EQ(log2_fixed(0), 0);
  static_assert(log2_fixed(3) == 103872);
}

}  // namespace
}  // namespace thimble::numerics
