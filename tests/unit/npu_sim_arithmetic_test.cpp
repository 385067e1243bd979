// SPDX-License-Identifier: Apache-2.0
// Scaling and rounding, compared with wide integers and with the two-step definitions.

#include <random>

#include <gtest/gtest.h>

#include "engines/ethos_u/sim/exec/arithmetic.h"
#include "engines/ethos_u/sim/exec/sigmoid_curve.h"

namespace thimble::ethos_u::sim {
namespace {

using Wide = __int128;

Wide floor_shift(Wide value, unsigned shift) {
  return value >> shift;
}

/// Rounds a product by the definition of each mode, without a rounding term added before the shift.
Wide expected(Wide product, unsigned shift, Rounding mode, unsigned double_round) {
  if (shift == 0) return product;
  const Wide low = floor_shift(product, shift);
  const Wide rest = product - (low << shift);
  const Wide half = Wide{1} << (shift - 1);
  switch (mode) {
    case Rounding::kDown:
      return low;
    case Rounding::kToZero:
      return product < 0 && rest != 0 ? low + 1 : low;
    case Rounding::kNatural:
      return rest >= half ? low + 1 : low;
    case Rounding::kSymmetric:
      if (product < 0) return rest > half ? low + 1 : low;
      return rest >= half ? low + 1 : low;
    case Rounding::kDouble:
    case Rounding::kDoubleAsymmetric:
      break;
  }
  const unsigned first = 31 - double_round;
  if (shift <= first) return rest >= half ? low + 1 : low;
  const Wide once = floor_shift(product + (Wide{1} << (first - 1)), first);  // half up
  return expected(once, shift - first,
                  mode == Rounding::kDouble ? Rounding::kSymmetric : Rounding::kNatural, 0);
}

void compare(int64_t value, uint32_t multiplier, uint32_t shift, Rounding mode, uint32_t twice) {
  const Wide product = Wide{value} * multiplier;
  const auto want = static_cast<int64_t>(expected(product, shift, mode, twice));
  ASSERT_EQ(scale_by(value, multiplier, shift, mode, twice), want)
      << value << " * " << multiplier << " >> " << shift << " mode " << static_cast<int>(mode)
      << " double " << twice;
  ASSERT_EQ(scale_wide(value, multiplier, shift, mode, twice), want)
      << value << " * " << multiplier << " >> " << shift << " wide, mode "
      << static_cast<int>(mode);
}

TEST(SimArithmetic, EveryRoundingOfSmallProducts) {
  for (int mode = 0; mode < 6; ++mode) {
    for (int64_t value = -70; value <= 70; ++value) {
      for (uint32_t shift = 0; shift < 8; ++shift) {
        compare(value, 3, shift, static_cast<Rounding>(mode), 0);
        compare(value, 1, shift, static_cast<Rounding>(mode), 28);
      }
    }
  }
}

TEST(SimArithmetic, EveryRoundingOfWideProducts) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<unsigned>(random() % 49 + 1);
    const int64_t value = static_cast<int64_t>(random()) >> (64 - bits);
    const auto multiplier = static_cast<uint32_t>(random() >> (32 + random() % 31));
    const auto shift = static_cast<uint32_t>(random() % 64);
    const uint32_t twice = random() % 3 == 0 ? 20 : random() % 2 == 0 ? 15 : 0;
    const auto mode = static_cast<Rounding>(random() % 6);
    // The first of two roundings has an effect only if the second shift is not 0.
    if (twice != 0 && value < 0 && shift == 0) continue;
    compare(value, multiplier, shift, mode, twice);
  }
}

TEST(SimArithmetic, TiesOfSingleAndDoubleRounding) {
  for (int64_t value = -(int64_t{1} << 9); value < (int64_t{1} << 9); ++value) {
    for (uint32_t shift = 31; shift < 40; ++shift) {
      compare(value << 22, 1U << 8, shift, Rounding::kDouble, 0);
      compare(value << 22, 1U << 8, shift, Rounding::kDoubleAsymmetric, 0);
      compare(value, 1U << 30, shift, Rounding::kDouble, 0);
    }
  }
}

TEST(SimArithmetic, WrapsToItsBits) {
  EXPECT_EQ(wrap(int64_t{1} << 31, 32), -(int64_t{1} << 31));
  EXPECT_EQ(wrap((int64_t{1} << 39) - 1, 40), (int64_t{1} << 39) - 1);
  EXPECT_EQ(wrap(int64_t{1} << 39, 40), -(int64_t{1} << 39));
  EXPECT_EQ(wrap(-5, 48), -5);
}

TEST(SimArithmetic, SigmoidAndTanhAreOddAndMonotonic) {
  int64_t sigmoid_before = 0, tanh_before = -32768;
  for (int64_t value = -140000; value <= 140000; ++value) {
    const int64_t s = sigmoid_of(value, BuiltInCurve{});
    const int64_t t = tanh_of(value, BuiltInCurve{});
    ASSERT_GE(s, sigmoid_before);
    ASSERT_GE(t, tanh_before);
    ASSERT_LE(s, 32767);
    ASSERT_LE(t, 32767);
    ASSERT_LE(std::abs(s + sigmoid_of(-value, BuiltInCurve{}) - 32768), 1) << value;
    ASSERT_LE(std::abs(t + tanh_of(-value, BuiltInCurve{})), 1) << value;
    sigmoid_before = s;
    tanh_before = t;
  }
  EXPECT_EQ(sigmoid_of(0, BuiltInCurve{}), 16384);
  EXPECT_EQ(tanh_of(0, BuiltInCurve{}), 0);
}

}  // namespace
}  // namespace thimble::ethos_u::sim
