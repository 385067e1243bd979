// SPDX-License-Identifier: Apache-2.0
// The reference evaluator's arithmetic, compared with the formulas of docs/numerics.md in long
// double, and with numerics/, which computes the same results by other methods.

#include "eval/arithmetic.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "numerics/fixed_point.h"
#include "numerics/log2.h"
#include "numerics/multiplier.h"
#include "numerics/softmax.h"
#include "tests/unit/ir_random_graph.h"

namespace thimble::eval {
namespace {

constexpr int64_t kMults[] = {0,          1,          1 << 20,    1 << 30,  (1 << 30) + 1,
                              1200000000, 1518500250, 2147483646, INT32_MAX};
constexpr int64_t kEdges[] = {INT32_MIN,  INT32_MIN + 1,
                              -(1 << 30), -65537,
                              -65536,     -256,
                              -3,         -2,
                              -1,         0,
                              1,          2,
                              3,          255,
                              (1 << 16),  (1 << 30) - 1,
                              1 << 30,    INT32_MAX - 1,
                              INT32_MAX};

/// docs/numerics.md, "Requantization", in a type that holds every product exactly.
long double requantize_by_definition(int64_t a, int64_t mult, int64_t shift, Rounding rounding) {
  if (rounding == Rounding::kSingle) {
    const long double t = std::ldexp(1.0L, static_cast<int>(31 - shift));
    return std::floor((static_cast<long double>(a) * static_cast<long double>(mult) + t / 2) / t);
  }
  const long double b =
      std::ldexp(static_cast<long double>(a), static_cast<int>(std::max<int64_t>(shift, 0)));
  const long double c = std::floor((b * static_cast<long double>(mult) + 0x1p30L) / 0x1p31L);
  // std::round rounds halves away from zero.
  return std::round(std::ldexp(c, -static_cast<int>(std::max<int64_t>(-shift, 0))));
}

/// docs/numerics.md, "Halves to even": the result including the zero point is even.
TEST(RequantizeEven, EqualsDefinition) {
  for (const int64_t zero_point : {-128, -3, 0, 5, 127}) {
    for (int64_t shift = 0; shift <= 23; ++shift) {
      for (const int64_t mult : kMults) {
        for (int64_t a = -300; a <= 300; ++a) {
          const long double divisor = std::ldexp(1.0L, static_cast<int>(shift));
          const long double exact = (static_cast<long double>(a) * static_cast<long double>(mult) +
                                     static_cast<long double>(zero_point) * divisor) /
                                    divisor;
          // The default floating-point rounding mode is to nearest even.
          ASSERT_EQ(requantize_even(a, mult, shift, zero_point),
                    static_cast<int64_t>(std::nearbyint(exact)))
              << a << " * " << mult << " >> " << shift << " + " << zero_point;
        }
      }
    }
  }
  // 2.5 is a tie of 2 and 3. With an odd zero point, the even result comes from 3.
  EXPECT_EQ(requantize_even(5, 1, 1, 0), 2);
  EXPECT_EQ(requantize_even(5, 1, 1, 1), 4);
  EXPECT_EQ(requantize_even(-5, 1, 1, 0), -2);
  EXPECT_EQ(requantize_even(-5, 1, 1, 1), -2);
}

TEST(Requantize, EqualsDefinitionForAllSmallAccumulators) {
  static_assert(LDBL_MANT_DIG >= 64, "the reference needs products of 63 bits");
  for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
    for (const int64_t mult : kMults) {
      for (int64_t shift = numerics::kShiftMin; shift <= numerics::kShiftMax; ++shift) {
        for (int64_t a = -600; a <= 600; ++a) {
          // Values beyond 32 bits wrap by docs/numerics.md, which is tested below.
          const long double expected = requantize_by_definition(a, mult, shift, rounding);
          if (std::abs(std::ldexp(static_cast<long double>(a), static_cast<int>(shift))) >=
              0x1p31L) {
            continue;
          }
          ASSERT_EQ(static_cast<long double>(requantize(a, mult, shift, rounding)), expected)
              << a << " * " << mult << " shift " << shift;
        }
      }
    }
  }
}

TEST(Requantize, EqualsDefinitionForLargeAccumulators) {
  for (const int64_t mult : kMults) {
    for (int64_t shift = numerics::kShiftMin; shift <= 0; ++shift) {
      for (const int64_t a : kEdges) {
        for (const Rounding rounding : {Rounding::kDouble, Rounding::kSingle}) {
          ASSERT_EQ(static_cast<long double>(requantize(a, mult, shift, rounding)),
                    requantize_by_definition(a, mult, shift, rounding))
              << a << " * " << mult << " shift " << shift;
        }
      }
    }
  }
}

TEST(Requantize, HalvesByHand) {
  constexpr int64_t kHalf = 1 << 30;  // multiplier 0.5
  // Double rounding: 0.5 * 1 gives 1 (half up), -0.5 gives 0; then the shift rounds away from zero.
  EXPECT_EQ(requantize(1, kHalf, 0, Rounding::kDouble), 1);
  EXPECT_EQ(requantize(-1, kHalf, 0, Rounding::kDouble), 0);
  EXPECT_EQ(requantize(6, kHalf, -1, Rounding::kDouble), 2);    // 3 / 2
  EXPECT_EQ(requantize(-6, kHalf, -1, Rounding::kDouble), -2);  // -3 / 2
  EXPECT_EQ(requantize(-6, kHalf, -1, Rounding::kSingle), -1);  // -1.5 half up
  // 5 * 0.5 = 2.5 -> 3 and 3 / 2 = 1.5 -> 2 with double rounding; 1.25 -> 1 with single rounding.
  EXPECT_EQ(requantize(5, kHalf, -1, Rounding::kDouble), 2);
  EXPECT_EQ(requantize(5, kHalf, -1, Rounding::kSingle), 1);
  EXPECT_EQ(requantize(3, kHalf, 4, Rounding::kDouble), 24);
  EXPECT_EQ(requantize(1 << 30, kHalf, 2, Rounding::kDouble), 0);  // wraps to 0 in step 1
}

void expect_equal_to_numerics(int64_t a, int64_t mult, int64_t shift) {
  const auto a32 = static_cast<int32_t>(a);
  const auto mult32 = static_cast<int32_t>(mult);
  const auto shift32 = static_cast<int32_t>(shift);
  ASSERT_EQ(requantize(a, mult, shift, Rounding::kDouble),
            numerics::requantize(a32, mult32, shift32))
      << a << " * " << mult << " shift " << shift;
  ASSERT_EQ(requantize(a, mult, shift, Rounding::kSingle),
            numerics::requantize_single(a32, mult32, shift32))
      << a << " * " << mult << " shift " << shift;
}

TEST(Requantize, EqualsNumericsAtTheEdges) {
  for (const int64_t a : kEdges) {
    for (const int64_t mult : kMults) {
      for (int64_t shift = numerics::kShiftMin; shift <= numerics::kShiftMax; ++shift) {
        expect_equal_to_numerics(a, mult, shift);
      }
    }
  }
}

TEST(Requantize, EqualsNumericsAtRandom) {
  test::Random random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    // Small and large accumulators.
    const int64_t a = random.between(INT32_MIN, INT32_MAX) >> random.between(0, 31);
    expect_equal_to_numerics(a, random.between(0, INT32_MAX), random.between(-31, 30));
  }
}

TEST(Requantize, IsCloseToTheRealProduct) {
  test::Random random(2);
  for (int i = 0; i < 200'000; ++i) {
    const int64_t a = random.between(INT32_MIN, INT32_MAX) >> random.between(8, 31);
    const double real = std::ldexp(random.real(0.5, 1), static_cast<int>(random.between(-20, 8)));
    const auto m = numerics::quantize_multiplier(real);
    const double exact = static_cast<double>(a) * real;
    ASSERT_NEAR(static_cast<double>(requantize(a, m.mult, m.shift, Rounding::kDouble)), exact,
                0.75 + std::abs(exact) * 0x1p-30);
    ASSERT_NEAR(static_cast<double>(requantize(a, m.mult, m.shift, Rounding::kSingle)), exact,
                0.5 + std::abs(exact) * 0x1p-30);
  }
}

TEST(Primitives, EqualNumerics) {
  test::Random random(3);
  for (int i = 0; i < 1'000'000; ++i) {
    const int64_t a = random.between(INT32_MIN, INT32_MAX) >> random.between(0, 31);
    const int64_t b = random.between(INT32_MIN, INT32_MAX) >> random.between(0, 31);
    const auto a32 = static_cast<int32_t>(a);
    const auto b32 = static_cast<int32_t>(b);
    if (a != INT32_MIN || b != INT32_MIN) {
      ASSERT_EQ(multiply_q31(a, b), numerics::high_mult(a32, b32)) << a << " " << b;
    }
    ASSERT_EQ(wrap32(a + b), numerics::wrap_add(a32, b32)) << a << " " << b;
    const int64_t bits = random.between(0, 31);
    ASSERT_EQ(divide_half_away(a, pow2(bits)),
              numerics::rounding_divide_by_pow2(a32, static_cast<int32_t>(bits)))
        << a << " / 2^" << bits;
  }
}

TEST(Primitives, RoundHalfEven) {
  EXPECT_EQ(round_half_even(0.5), 0);
  EXPECT_EQ(round_half_even(1.5), 2);
  EXPECT_EQ(round_half_even(2.5), 2);
  EXPECT_EQ(round_half_even(-0.5), 0);
  EXPECT_EQ(round_half_even(-1.5), -2);
  EXPECT_EQ(round_half_even(-2.5), -2);
  EXPECT_EQ(round_half_even(2.4999999), 2);
  EXPECT_EQ(round_half_even(-65536.0), -65536);
  for (int i = -4 * 70000; i <= 4 * 70000; ++i) {
    const float value = static_cast<float>(i) / 4;
    ASSERT_EQ(round_half_even(static_cast<double>(value)), numerics::round_half_even(value))
        << value;
  }
}

TEST(Exp, EqualsNumericsAndIsCloseToExp) {
  test::Random random(4);
  const auto check = [](int64_t a) {
    const int64_t found = exp_on_negative(a);
    ASSERT_EQ(found, numerics::exp_on_negative(static_cast<int32_t>(a))) << a;
    const double exact = std::exp(static_cast<double>(a) * 0x1p-26) * 0x1p31;
    ASSERT_NEAR(static_cast<double>(found), exact, 0x1p31 * 2e-5) << a;
  };
  for (int64_t quarters = 0; quarters < 128; ++quarters) {
    for (int64_t near = -3; near <= 3; ++near) {
      const int64_t a = -quarters * pow2(24) + near;
      if (a <= 0) check(a);
    }
  }
  for (int i = 0; i < 200'000; ++i) check(random.between(INT32_MIN + 1, 0));
  EXPECT_EQ(exp_on_negative(0), INT32_MAX);
}

TEST(OneOverOnePlus, EqualsNumericsAndIsCloseToQuotient) {
  test::Random random(5);
  const auto check = [](int64_t x) {
    const int64_t found = one_over_one_plus(x);
    ASSERT_EQ(found, numerics::one_over_one_plus_x(static_cast<int32_t>(x))) << x;
    ASSERT_NEAR(static_cast<double>(found), 0x1p31 / (1 + static_cast<double>(x) * 0x1p-31), 64)
        << x;
  };
  for (int64_t x = 0; x < 1000; ++x) {
    check(x);
    check(INT32_MAX - x);
  }
  for (int i = 0; i < 200'000; ++i) check(random.between(0, INT32_MAX));
}

TEST(Log2, EqualsNumericsAndIsCloseToLog2) {
  const auto check = [](int64_t value) {
    const int64_t found = log2_q16(value);
    ASSERT_EQ(found, numerics::log2_fixed(static_cast<uint32_t>(value))) << value;
    const double exact = std::log2(static_cast<double>(value)) * 65536;
    ASSERT_LE(static_cast<double>(found), exact + 1e-6) << value;
    ASSERT_GT(static_cast<double>(found), exact - 2) << value;
  };
  for (int64_t value = 1; value <= 70'000; ++value) check(value);
  test::Random random(6);
  for (int i = 0; i < 200'000; ++i) check(random.between(1, INT64_C(0xffffffff)));
  EXPECT_EQ(log2_q16(1), 0);
  EXPECT_EQ(log2_q16(1 << 20), 1310720);
  EXPECT_EQ(log2_q16(3), 103872);
}

}  // namespace
}  // namespace thimble::eval
