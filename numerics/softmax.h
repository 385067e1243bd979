// SPDX-License-Identifier: Apache-2.0
#pragma once
// Softmax in fixed point with 5 integer bits, bit-exact with gemmlowp and CMSIS-NN
// `arm_softmax_s8`. This header is the definition that docs/numerics.md, "Softmax", refers to.
//
// Qm.n below is a 32-bit integer that represents value / 2^n. All arithmetic wraps and no argument
// has undefined behaviour, so that a corrupt file can only cause a wrong result.

#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// Returns exp(x) for x <= 0; x is Q5.26, the result is Q0.31.
/// x = -(remainder) - 1/4 + t with t in [0, 1/4) and remainder a multiple of 1/4. A polynomial of
/// degree 4 around -1/8 gives exp(-1/4 + t). Each set bit of the remainder multiplies the result by
/// its constant exp(-2^k).
constexpr int32_t exp_on_negative(int32_t x) {
  constexpr int32_t kQuarter = 1 << 24;            // 1/4 in Q5.26
  constexpr int32_t kExpMinusEighth = 1895147668;  // exp(-1/8) in Q0.31
  constexpr int32_t kOneThird = 715827883;         // 1/3 in Q0.31
  constexpr int32_t kExpMinusPow2[] = {1672461947, 1302514674, 790015084, 290630308,
                                       39332535,   720401,     242};  // exp(-2^k), k = -2..4
  if (x == 0) return INT32_MAX;
  const int32_t in_quarter = (x & (kQuarter - 1)) - kQuarter;
  const int32_t remainder = wrap_sub(in_quarter, x);
  const int32_t a = in_quarter * 32 + (1 << 28);  // distance from -1/8, Q0.31
  const int32_t a2 = high_mult(a, a);
  const int32_t a3 = high_mult(a2, a);
  const int32_t a4_over_4 = rounding_divide_by_pow2(high_mult(a2, a2), 2);
  const int32_t tail = rounding_divide_by_pow2(high_mult(a4_over_4 + a3, kOneThird) + a2, 1);
  int32_t result = wrap_add(kExpMinusEighth, high_mult(kExpMinusEighth, a + tail));
  for (int32_t bit = 0; bit < 7; ++bit) {
    if ((remainder & (kQuarter << bit)) != 0) result = high_mult(result, kExpMinusPow2[bit]);
  }
  return result;
}

/// Returns value * 2^bits, saturated. |value| above (2^(31-bits) - 1) saturates, as in CMSIS-NN.
constexpr int32_t saturating_shl(int32_t value, int32_t bits) {
  const int32_t threshold = static_cast<int32_t>((uint32_t{1} << (31 - bits)) - 1);
  if (value > threshold) return INT32_MAX;
  if (value < -threshold) return INT32_MIN;
  return wrap_shl(value, bits);
}

/// Returns 1 / (1 + x) for x in [0, 1); input and output are Q0.31. Three Newton steps on the half
/// denominator d start from 48/17 - 32/17 d.
constexpr int32_t one_over_one_plus_x(int32_t x) {
  constexpr int32_t k48Over17 = 1515870810;        // Q2.29
  constexpr int32_t kMinus32Over17 = -1010580540;  // Q2.29
  constexpr int32_t kOne = 1 << 29;                // Q2.29
  const int64_t sum = static_cast<int64_t>(x) + INT32_MAX;
  const int32_t half_denominator = static_cast<int32_t>((sum + (sum >= 0 ? 1 : -1)) / 2);
  int32_t y = wrap_add(k48Over17, high_mult(half_denominator, kMinus32Over17));
  for (int32_t step = 0; step < 3; ++step) {
    const int32_t error = wrap_sub(kOne, high_mult(half_denominator, y));
    y = wrap_add(y, saturating_shl(high_mult(y, error), 2));
  }
  return saturating_shl(y, 1);
}

/// Length of the longest row that CMSIS-NN sums without overflow. Longer rows are defined here: the
/// sum saturates, and from 2^28 on (512 equal maxima) every output is -128.
inline constexpr int32_t kSoftmaxCmsisRow = 4095;

/// Parameters of one softmax: (mult, shift) = quantize_multiplier(min(s_x * 2^26, 2^31 - 1)), shift
/// in 0..31, and diff_min = -floor(31 * 2^26 / 2^shift) <= 0. The input's zero point cancels.
/// Values below `lowest` are skipped.
struct Softmax {
  int32_t mult, shift, diff_min;
  int32_t lowest = -128;

  /// Returns exp(s_x * difference) in Q0.31; difference = value - maximum, at least diff_min.
  constexpr int32_t exp(int32_t difference) const {
    return exp_on_negative(high_mult(wrap_shl(difference, shift), mult));
  }

  /// Computes one row of `count` >= 1 values; results have scale 1/256 and zero point -128. `y` may
  /// be `x`.
  constexpr void row(const int8_t* x, int32_t count, int8_t* y) const {
    constexpr uint32_t kSumMax = uint32_t{1} << 31;
    int32_t maximum = x[0];
    for (int32_t i = 1; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
    // Differences are above -256, so a lower bound has no effect.
    int32_t least = diff_min < -255 ? -255 : diff_min;
    least = lowest - maximum > least ? lowest - maximum : least;
    uint32_t sum = 0;  // Q12.19: at least 2^19, from the maximum, unless the maximum is skipped
    for (int32_t i = 0; i < count; ++i) {
      const int32_t difference = x[i] - maximum;
      if (difference < least) continue;
      sum += static_cast<uint32_t>(rounding_divide_by_pow2(exp(difference), 12));
      if (sum > kSumMax) sum = kSumMax;
    }
    // If all elements of a row are skipped, the sum is 0 and every result below is -128.
    const int32_t headroom = count_leading_zeros(sum | (sum == 0 ? 1U : 0U));
    // sum * 2^headroom is in [2^31, 2^32): 1 + x with x in Q0.31.
    const int32_t scale = one_over_one_plus_x(static_cast<int32_t>((sum << headroom) ^ kSumMax));
    const int32_t right = 12 - headroom + 23;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t difference = x[i] - maximum;
      int32_t value = 0;
      // right > 31 means that the result of the maximum is below 1/512. The result is then zero;
      // the shift would be undefined behaviour in C++.
      if (difference >= least && right <= 31) {
        value = rounding_divide_by_pow2(high_mult(scale, exp(difference)), right);
      }
      y[i] = static_cast<int8_t>(clamp(value - 128, -128, 127));
    }
  }
};

}  // namespace thimble::numerics
