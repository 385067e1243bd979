// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integer arithmetic of the reference evaluator: the formulas of docs/numerics.md in int64, written
// as that page states them. numerics/ has the fast implementation. A test compares the two, which
// is evidence only while neither calls the other.

#include <cmath>
#include <cstdint>

namespace thimble::eval {

/// Returns 2^exponent for an exponent in 0..62.
constexpr int64_t pow2(int64_t exponent) {
  return int64_t{1} << exponent;
}

/// Returns the 32-bit two's complement number with the same low 32 bits.
constexpr int64_t wrap32(int64_t value) {
  return static_cast<int32_t>(value);
}

constexpr int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

/// Returns the quotient rounded down. Requires divisor > 0.
constexpr int64_t floor_divide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

/// Returns the quotient rounded to nearest, halves away from zero. Requires a divisor that is 1 or
/// positive and even.
constexpr int64_t divide_half_away(int64_t value, int64_t divisor) {
  const int64_t magnitude = value < 0 ? -value : value;
  const int64_t quotient = (magnitude + divisor / 2) / divisor;
  return value < 0 ? -quotient : quotient;
}

/// Returns the product of two Q0.31 numbers: a * b / 2^31 to nearest, halves up.
constexpr int64_t multiply_q31(int64_t a, int64_t b) {
  return floor_divide(a * b + pow2(30), pow2(31));
}

enum class Rounding : int64_t { kDouble = 0, kSingle = 1, kEven = 2 };

/// Returns accumulator * mult * 2^(shift - 31), wrapped to 32 bits.
constexpr int64_t requantize(int64_t accumulator, int64_t mult, int64_t shift, Rounding rounding) {
  if (rounding == Rounding::kSingle) {
    const int64_t t = 31 - shift;
    return wrap32(floor_divide(accumulator * mult + pow2(t - 1), pow2(t)));
  }
  const int64_t left = shift > 0 ? shift : 0;
  const int64_t right = shift < 0 ? -shift : 0;
  const int64_t shifted = wrap32(accumulator * pow2(left));
  return divide_half_away(multiply_q31(shifted, mult), pow2(right));
}

/// Returns (accumulator * mult + zero_point * 2^shift) / 2^shift to nearest, halves to even.
constexpr int64_t requantize_even(int64_t accumulator, int64_t mult, int64_t shift,
                                  int64_t zero_point) {
  const int64_t divisor = pow2(shift);
  const int64_t sum = accumulator * mult + zero_point * divisor;
  const int64_t below = floor_divide(sum, divisor);
  const int64_t twice_rest = 2 * (sum - below * divisor);
  const bool up = twice_rest > divisor || (twice_rest == divisor && below % 2 != 0);
  return up ? below + 1 : below;
}

/// Returns a * mult * 2^(shift - 31) with the multiplier rounded to 15 bits.
constexpr int64_t requantize64(int64_t a, int64_t mult, int64_t shift) {
  const int64_t cut = mult >= 0x7FFF0000 ? 32767 : (mult + pow2(15)) / pow2(16);
  const int64_t t = 15 - shift;
  return floor_divide(a * cut + pow2(t - 1), pow2(t));
}

/// Returns the nearest integer, halves to even.
inline int64_t round_half_even(double value) {
  const double below = std::floor(value);
  const int64_t whole = static_cast<int64_t>(below);
  const double rest = value - below;
  const bool up = rest > 0.5 || (rest == 0.5 && whole % 2 != 0);
  return up ? whole + 1 : whole;
}

constexpr int64_t saturate32(int64_t value) {
  return clamp(value, INT32_MIN, INT32_MAX);
}

/// Returns e^a in Q0.31 for a <= 0 in Q5.26.
constexpr int64_t exp_on_negative(int64_t a) {
  constexpr int64_t kQuarter = pow2(24);
  constexpr int64_t kExpOfMinusEighth = 1895147668;  // e^(-1/8)
  constexpr int64_t kThird = 715827883;
  // e^-(2^(i-2)), i = 0..6
  constexpr int64_t kFactors[7] = {1672461947, 1302514674, 790015084, 290630308,
                                   39332535,   720401,     242};
  if (a == 0) return INT32_MAX;
  // a = rest - quarters / 4 with rest in [-1/4, 0). The Taylor series is expanded at -1/8.
  const int64_t quarters = floor_divide(-a - 1, kQuarter);
  const int64_t rest = a + quarters * kQuarter;
  const int64_t x = rest * 32 + pow2(28);
  const int64_t x2 = multiply_q31(x, x);
  const int64_t x3 = multiply_q31(x2, x);
  const int64_t x4 = multiply_q31(x2, x2);
  const int64_t higher_terms = multiply_q31(divide_half_away(x4, 4) + x3, kThird);
  const int64_t series = x + divide_half_away(higher_terms + x2, 2);
  int64_t result = kExpOfMinusEighth + multiply_q31(kExpOfMinusEighth, series);
  for (int64_t i = 0; i < 7; ++i) {
    if (quarters / pow2(i) % 2 == 1) result = multiply_q31(result, kFactors[i]);
  }
  return result;
}

/// Returns 1 / (1 + x) for x in [0, 1); both are Q0.31.
constexpr int64_t one_over_one_plus(int64_t x) {
  constexpr int64_t k48Over17 = 1515870810;        // Q2.29
  constexpr int64_t kMinus32Over17 = -1010580540;  // Q2.29
  const int64_t half_denominator = divide_half_away(x + INT32_MAX, 2);
  int64_t y = k48Over17 + multiply_q31(half_denominator, kMinus32Over17);
  for (int step = 0; step < 3; ++step) {
    const int64_t error = pow2(29) - multiply_q31(half_denominator, y);
    y += saturate32(4 * multiply_q31(y, error));
  }
  return saturate32(2 * y);
}

/// Returns the number of leading zero bits of a positive 32-bit number.
constexpr int64_t headroom32(int64_t value) {
  int64_t bits = 0;
  while (value * pow2(bits) < pow2(31)) ++bits;
  return bits;
}

/// Returns log2 of a positive 32-bit number in Q16, truncated. 16 squarings give the 16 fractional
/// bits.
constexpr int64_t log2_q16(int64_t value) {
  const int64_t whole = 31 - headroom32(value);
  uint64_t mantissa = static_cast<uint64_t>(value * pow2(31 - whole));  // Q31, in [1, 2)
  int64_t fraction = 0;
  for (int bit = 0; bit < 16; ++bit) {
    mantissa = mantissa * mantissa / (uint64_t{1} << 31);
    const bool two_or_more = mantissa >= uint64_t{1} << 32;
    if (two_or_more) mantissa /= 2;
    fraction = 2 * fraction + (two_or_more ? 1 : 0);
  }
  return whole * pow2(16) + fraction;
}

}  // namespace thimble::eval
