// SPDX-License-Identifier: Apache-2.0
// numerics/fixed_point.h and multiplier.h, compared with definitions written independently from
// docs/numerics.md: floors and roundings of exact quotients in 128-bit integers, where the code
// uses shifts and masks.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "numerics/fixed_point.h"
#include "numerics/multiplier.h"

namespace thimble::numerics {
namespace {

__extension__ using Wide = __int128;

Wide floor_divide(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Wide power_of_two(int exponent) {
  return Wide{1} << exponent;
}

int64_t nearest_half_away(int64_t value, int bits) {
  const Wide magnitude = value < 0 ? -Wide{value} : Wide{value};
  const Wide rounded = (2 * magnitude + power_of_two(bits)) / power_of_two(bits + 1);
  return static_cast<int64_t>(value < 0 ? -rounded : rounded);
}

int32_t wrapped(Wide value) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(value)));
}

int64_t double_rounding(int32_t value, int32_t mult, int32_t shift) {
  const int32_t b = shift > 0 ? wrapped(Wide{value} * power_of_two(shift)) : value;
  const Wide c = floor_divide(Wide{b} * mult + power_of_two(30), power_of_two(31));
  return nearest_half_away(static_cast<int64_t>(c), shift < 0 ? -shift : 0);
}

int32_t single_rounding(int32_t value, int32_t mult, int32_t shift) {
  const int t = 31 - shift;
  return wrapped(floor_divide(Wide{value} * mult + power_of_two(t - 1), power_of_two(t)));
}

const std::vector<int32_t> kMultipliers = {0,          1 << 30,    (1 << 30) + 1, 1431655765,
                                           1518500250, 1717986918, INT32_MAX - 1, INT32_MAX};

void expect_requantize(int32_t value, int32_t mult, int32_t shift) {
  ASSERT_EQ(requantize(value, mult, shift), double_rounding(value, mult, shift))
      << value << " * " << mult << " shift " << shift;
  ASSERT_EQ(requantize_single(value, mult, shift), single_rounding(value, mult, shift))
      << value << " * " << mult << " shift " << shift;
}

TEST(Requantize, EveryInt12AtEveryShift) {
  for (const int32_t mult : kMultipliers) {
    for (int32_t shift = kShiftMin; shift <= kShiftMax; ++shift) {
      for (int32_t value = -2048; value < 2048; ++value) expect_requantize(value, mult, shift);
    }
  }
}

TEST(Requantize, EveryInt8TimesPowersOfTwo) {
  for (const int32_t mult : kMultipliers) {
    for (int32_t shift = kShiftMin; shift <= kShiftMax; ++shift) {
      for (int32_t code = -128; code < 128; ++code) {
        for (int32_t left = 8; left <= 24; left += 4) expect_requantize(code << left, mult, shift);
      }
    }
  }
}

TEST(Requantize, LargeValuesAndEdges) {
  std::mt19937 random(1);
  const std::vector<int32_t> edges = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
  for (int32_t shift = kShiftMin; shift <= kShiftMax; ++shift) {
    for (const int32_t mult : kMultipliers) {
      for (const int32_t value : edges) expect_requantize(value, mult, shift);
    }
    for (int i = 0; i < 5000; ++i) {
      const int32_t mult = static_cast<int32_t>(random() >> 2 | 1U << 30);
      expect_requantize(static_cast<int32_t>(random()), mult & INT32_MAX, shift);
    }
  }
}

TEST(Requantize, DoubleRoundingOfHalves) {
  EXPECT_EQ(high_mult(1, 1 << 30), 1);    // 0.5
  EXPECT_EQ(high_mult(-1, 1 << 30), 0);   // -0.5
  EXPECT_EQ(high_mult(-3, 1 << 30), -1);  // -1.5
  EXPECT_EQ(rounding_divide_by_pow2(1, 1), 1);
  EXPECT_EQ(rounding_divide_by_pow2(-1, 1), -1);
  EXPECT_EQ(rounding_divide_by_pow2(-3, 1), -2);
  // The two rounding modes differ for these values.
  EXPECT_EQ(requantize(-3, 1 << 30, 0), -1);
  EXPECT_EQ(requantize(-1, INT32_MAX, -1), -1);
  EXPECT_EQ(requantize_single(-1, INT32_MAX, -1), 0);
}

TEST(HighMult, SaturatesTheOnlyOverflow) {
  EXPECT_EQ(high_mult(INT32_MIN, INT32_MIN), INT32_MAX);
  EXPECT_EQ(high_mult(INT32_MIN, INT32_MAX), -INT32_MAX);
  EXPECT_EQ(high_mult(INT32_MAX, INT32_MAX), INT32_MAX - 1);
}

TEST(RoundingDivide, EveryInt12AtEveryShift) {
  for (int32_t bits = 0; bits <= 31; ++bits) {
    for (int32_t value = -2048; value < 2048; ++value) {
      ASSERT_EQ(rounding_divide_by_pow2(value, bits), nearest_half_away(value, bits));
      const int32_t high = static_cast<int32_t>(static_cast<uint32_t>(value) << 20);
      ASSERT_EQ(rounding_divide_by_pow2(high, bits), nearest_half_away(high, bits));
    }
  }
}

TEST(Wrap, IsTwosComplement) {
  EXPECT_EQ(wrap_add(INT32_MAX, 1), INT32_MIN);
  EXPECT_EQ(wrap_sub(INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(wrap_mul(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(wrap_shl(3, 31), INT32_MIN);
  EXPECT_EQ(wrap_shl(-1, 0), -1);
  EXPECT_EQ(clamp(5, -1, 3), 3);
  EXPECT_EQ(clamp(-5, -1, 3), -1);
  EXPECT_EQ(clamp(2, -1, 3), 2);
  EXPECT_EQ(count_leading_zeros(0), 32);
  EXPECT_EQ(count_leading_zeros(1), 31);
}

TEST(RoundHalfEven, EqualsNearbyint) {
  for (int32_t quarter = -40000; quarter <= 40000; ++quarter) {
    const float value = static_cast<float>(quarter) / 4;
    ASSERT_EQ(round_half_even(value), static_cast<int32_t>(std::nearbyint(value))) << value;
    for (const float near : {std::nextafter(value, 1e9F), std::nextafter(value, -1e9F)}) {
      ASSERT_EQ(round_half_even(near), static_cast<int32_t>(std::nearbyint(near))) << near;
    }
  }
  std::mt19937 random(2);
  for (int i = 0; i < 1000000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!(std::fabs(value) <= 4194304.0F)) continue;
    ASSERT_EQ(round_half_even(value), static_cast<int32_t>(std::nearbyint(value))) << value;
  }
  EXPECT_EQ(round_half_even(NAN), 0);
  EXPECT_EQ(round_half_even(4194304.0F), 4194304);
}

int32_t quantize_by_definition(float value, float inverse, int32_t zero_point) {
  const float scaled = value * inverse;
  if (std::isnan(scaled)) return clamp(zero_point, -128, 127);
  const double bounded = std::fmax(-65536.0, std::fmin(65536.0, scaled));
  return clamp(static_cast<int32_t>(std::nearbyint(bounded)) + zero_point, -128, 127);
}

TEST(Quantize, EqualsItsDefinition) {
  std::mt19937 random(3);
  const std::vector<float> special = {0.0F,      -0.0F,    1e-45F,    NAN,   INFINITY,
                                      -INFINITY, 65536.5F, -65536.5F, 3e38F, -3e38F};
  for (const float inverse : {1.0F, 0.5F, 127.0F, 1e-38F, 1e38F, 0x1p126F}) {
    for (const int32_t zero_point : {-128, -1, 0, 5, 127}) {
      for (const float value : special) {
        ASSERT_EQ(quantize_i8(value, inverse, zero_point),
                  quantize_by_definition(value, inverse, zero_point));
      }
      for (int i = 0; i < 20000; ++i) {
        const float value = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-23F;
        ASSERT_EQ(quantize_i8(value, inverse, zero_point),
                  quantize_by_definition(value, inverse, zero_point));
      }
    }
  }
}

TEST(Quantize, IsInverseOfDequantize) {
  for (const float scale : {0.5F, 0.1F, 0.0078125F, 1e-6F}) {
    for (int32_t zero_point = -128; zero_point < 128; ++zero_point) {
      for (int32_t code = -128; code < 128; ++code) {
        const float value = dequantize_i8(static_cast<int8_t>(code), scale, zero_point);
        ASSERT_EQ(quantize_i8(value, 1.0F / scale, zero_point), code);
      }
    }
  }
}

Multiplier by_definition(double real) {
  int exponent = 0;
  int64_t mult = std::llround(std::ldexp(std::frexp(real, &exponent), 31));
  if (mult == int64_t{1} << 31) {
    mult /= 2;
    ++exponent;
  }
  if (exponent < -31) return {};
  return {static_cast<int32_t>(mult), exponent};
}

TEST(QuantizeMultiplier, EqualsFrexpAndLround) {
  EXPECT_EQ(quantize_multiplier(0), Multiplier{});
  EXPECT_EQ(quantize_multiplier(1.0), (Multiplier{1 << 30, 1}));
  EXPECT_EQ(quantize_multiplier(0.5), (Multiplier{1 << 30, 0}));
  EXPECT_EQ(quantize_multiplier(std::nextafter(1.0, 0)), (Multiplier{1 << 30, 1}));
  EXPECT_EQ(quantize_multiplier(0x1p-33), Multiplier{});
  EXPECT_EQ(quantize_multiplier(0x1p-32), (Multiplier{1 << 30, -31}));
  EXPECT_EQ(quantize_multiplier(std::nextafter(0x1p-32, 0)), (Multiplier{1 << 30, -31}));
  std::mt19937_64 random(4);
  for (int i = 0; i < 300000; ++i) {
    const int exponent = static_cast<int>(random() % 80) - 45;
    const double real = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, exponent);
    ASSERT_EQ(quantize_multiplier(real), by_definition(real)) << real;
    // Exact halves of the last place of mult.
    const double tie =
        std::ldexp(static_cast<double>(random() % (1U << 30) + (1U << 30)) + 0.5, exponent);
    ASSERT_EQ(quantize_multiplier(tie), by_definition(tie)) << tie;
  }
}

// These functions are constexpr.
static_assert(requantize(1000, 1 << 30, -1) == 250);
static_assert(requantize_single(1000, 1 << 30, -1) == 250);
static_assert(round_half_even(2.5F) == 2);
static_assert(quantize_i8(1.0F, 10.0F, 3) == 13);
static_assert(quantize_multiplier(0.25) == Multiplier{1 << 30, -1});

}  // namespace
}  // namespace thimble::numerics
