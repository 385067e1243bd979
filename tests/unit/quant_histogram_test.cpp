// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir_random_graph.h"
#include "quant/range.h"

namespace thimble::test {
namespace {

using quant::Histogram;
using quant::Observer;

std::vector<float> samples(uint64_t seed, size_t count, double reach) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.real(-reach, reach));
  return values;
}

TEST(Histogram, DoesNotDependOnOrderOrGrouping) {
  // Magnitudes differ by powers of two, so bins are merged on the way.
  const auto small = samples(1, 1000, 0.01);
  const auto middle = samples(2, 777, 3.5);
  const auto large = samples(3, 50, 1000);
  Histogram one, other, part;
  for (const auto& values : {small, middle, large}) ASSERT_TRUE(one.add(values));
  for (const auto& values : {large, small}) ASSERT_TRUE(other.add(values));
  ASSERT_TRUE(part.add(middle));
  other.merge(part);
  EXPECT_EQ(one, other);
  part.merge(Histogram());
  Histogram reverse;
  reverse.merge(part);
  Histogram rest;
  ASSERT_TRUE(rest.add(small));
  ASSERT_TRUE(rest.add(large));
  reverse.merge(rest);
  EXPECT_EQ(one, reverse);
}

TEST(Histogram, CountsSamplesInTheirBins) {
  const auto values = samples(4, 5000, 77);
  Histogram histogram;
  ASSERT_TRUE(histogram.add(values));
  EXPECT_EQ(histogram.bin_width(), std::ldexp(128.0, -12));
  std::vector<uint64_t> expected(2 * Histogram::kBinsPerSide, 0);
  for (const float value : values) {
    const double bin = std::floor(static_cast<double>(value) / histogram.bin_width());
    if (value != 0) ++expected[static_cast<size_t>(bin + Histogram::kBinsPerSide)];
  }
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), histogram.counts().begin()));
}

TEST(Histogram, RefusesNonFiniteSamples) {
  for (const float bad : {std::nanf(""), INFINITY, -INFINITY}) {
    for (const size_t place : {size_t{0}, size_t{20}, size_t{36}}) {
      auto values = samples(5, 37, 1);
      values[place] = bad;
      Histogram histogram;
      EXPECT_FALSE(histogram.add(values));
      EXPECT_EQ(histogram, Histogram());
    }
  }
}

TEST(Range, MinMaxIsExactAndIncludesZero) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add(std::vector<float>{0.5F, 2.0F}));
  const quant::Range range = quant::choose_range(histogram, Observer::kMinMax);
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 2);
  const quant::Params params = quant::params_for(range);
  EXPECT_EQ(params.zero_point, -128);
  EXPECT_EQ(params.scale, static_cast<double>(static_cast<float>(2.0 / 255)));
}

TEST(Range, MseCutsOffALoneOutlierAndKeepsAUniformRange) {
  auto values = samples(6, 2000000, 1);
  Histogram uniform;
  ASSERT_TRUE(uniform.add(values));
  EXPECT_GT(quant::choose_range(uniform, Observer::kMse).high, 0.97);
  values.push_back(20);
  Histogram outlier;
  ASSERT_TRUE(outlier.add(values));
  // Steps of (h + 1) / 255 cost 2e6 / 12 * step^2, the outlier (20 - h)^2. The minimum is h = 4.9.
  EXPECT_NEAR(quant::choose_range(outlier, Observer::kMse).high, 4.9, 0.5);
  EXPECT_LT(quant::choose_range(outlier, Observer::kPercentile).high, 1.1);
  EXPECT_EQ(quant::choose_range(outlier, Observer::kMinMax).high, 20);
}

/// Extremes of `count` samples, exponentially distributed above 5 with mean 6.
quant::Extremes exponential(uint64_t seed, int count) {
  Random random(seed);
  quant::Extremes extremes;
  for (int i = 0; i < count; ++i) extremes.add(5 - std::log(random.real(1e-9, 1)));
  return extremes;
}

TEST(Range, ExtrapolatesForFewElements) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const quant::Extremes extremes = exponential(seed, 64);
    const double seen = extremes.furthest_first()[0];
    const double few = quant::extrapolate_range({}, extremes, 64, 10).above;
    const double many = quant::extrapolate_range({}, extremes, 64, 1e6).above;
    EXPECT_GT(few, seen * 1.02) << "seed " << seed;
    EXPECT_LE(few, seen * 1.3 + 1e-9) << "seed " << seed;
    EXPECT_NEAR(many, seen, 1e-6) << "seed " << seed;
    EXPECT_EQ(quant::extrapolate_range({}, extremes, 64, 10).below, 0);
    EXPECT_EQ(quant::extrapolate_range(extremes, {}, 64, 10).below, few);
  }
}

TEST(Range, NoExtrapolationForBoundedSamples) {
  quant::Extremes saturated = exponential(1, 64);
  saturated.add(saturated.furthest_first()[0]);
  EXPECT_EQ(quant::extrapolate_range({}, saturated, 65, 10).above, saturated.furthest_first()[0]);
  quant::Extremes three;
  for (const double x : {1.0, 2.0, 3.0}) three.add(x);
  EXPECT_EQ(quant::extrapolate_range({}, three, 3, 10).above, 3);
}

TEST(Range, ExtrapolationDoesNotDependOnOrderOrGrouping) {
  const auto values = samples(8, 400, 3);
  Histogram forward, backward, rest;
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(forward.add(std::span(values).subspan(i, 1)));
    Histogram& part = i % 3 == 0 ? rest : backward;
    ASSERT_TRUE(part.add(std::span(values).subspan(values.size() - 1 - i, 1)));
  }
  backward.merge(rest);
  EXPECT_EQ(forward, backward);
  forward.extrapolate(values.size());
  EXPECT_GE(forward.likely_max(), forward.max());
  forward.limit(-1, 1);
  forward.include(0);
  EXPECT_EQ(quant::choose_range(forward, Observer::kExtrapolate).high, forward.max());
}

TEST(Range, BothEndsAreRepresentable) {
  Random random(9);
  for (int i = 0; i < 1000; ++i) {
    const quant::Range range{-std::exp(random.real(-8, 8)) * (i % 5 == 0 ? 0 : 1),
                             std::exp(random.real(-8, 8)) * (i % 7 == 0 ? 0 : 1)};
    const bool masked = i % 2 == 0;
    const quant::Params params = quant::params_for(range, masked);
    if (range.low == range.high) continue;
    const double slack = params.scale * 1e-4;
    EXPECT_LE(params.real(params.lowest()), range.low + slack) << range.low << " " << range.high;
    EXPECT_GE(params.real(127), range.high - slack) << range.low << " " << range.high;
    // At most one quantized value is lost to the zero point.
    EXPECT_LE(params.scale * (254 - (masked ? 1 : 0)), (range.high - range.low) * (1 + 1e-6));
  }
  // Ranges that end at exactly -1 and 1 are common.
  const quant::Params unit = quant::params_for({-1, 1});
  EXPECT_FLOAT_EQ(static_cast<float>(unit.real(unit.code(1))), 1);
  EXPECT_FLOAT_EQ(static_cast<float>(unit.real(unit.code(-1))), -1);
}

TEST(Range, RangeIncludesRequiredValues) {
  Histogram histogram;
  ASSERT_TRUE(histogram.add(samples(7, 1000, 1)));
  histogram.include(5);
  for (const Observer observer :
       {Observer::kMinMax, Observer::kPercentile, Observer::kMse, Observer::kExtrapolate}) {
    EXPECT_EQ(quant::choose_range(histogram, observer).high, 5);
  }
}

TEST(Range, EmptyAndTinyRangesHaveValidScales) {
  EXPECT_EQ(quant::params_for({0, 0}), (quant::Params{1, 0}));
  const quant::Params tiny = quant::params_for({0, 1e-30});
  EXPECT_GT(tiny.scale, 0);
  EXPECT_TRUE(std::isfinite(1 / static_cast<float>(tiny.scale)));
  for (const double low : {-1e9, -3.0, -1e-7, 0.0}) {
    for (const double high : {0.0, 1e-7, 2.0, 1e9}) {
      const quant::Params params = quant::params_for({low, high});
      EXPECT_GE(params.zero_point, -128);
      EXPECT_LE(params.zero_point, 127);
      EXPECT_EQ(params.scale, static_cast<double>(static_cast<float>(params.scale)));
      EXPECT_EQ(params.real(params.code(0)), 0);
    }
  }
}

}  // namespace
}  // namespace thimble::test
