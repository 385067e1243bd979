// SPDX-License-Identifier: Apache-2.0
// Softmax over the last dimension: docs/numerics.md, "Softmax". Qi.f is a fixed-point number with i
// integer and f fractional bits.

#include "engines/neutron/model/kernel.h"
#include "engines/neutron/model/loops.h"

namespace thimble::neutron::model {
namespace {

constexpr int32_t kOne = 0x7FFFFFFF;  // 1 - 2^-31 as Q0.31

constexpr int32_t saturate(int64_t value) {
  return value > kOne ? kOne : value < -int64_t{kOne} - 1 ? -kOne - 1 : static_cast<int32_t>(value);
}

constexpr uint32_t leading_zeros(uint32_t value) {
  uint32_t count = 0;
  for (; count < 32 && (value & 0x80000000U) == 0; ++count) value <<= 1;
  return count;
}

/// Returns e^a as Q0.31 for a <= 0 in Q5.26: a Taylor series around -1/8 for the remainder modulo
/// 1/4, and one factor per bit of the number of quarters.
constexpr int32_t exp_on_negative(int32_t a) {
  constexpr int32_t kQuarter = 1 << 24;
  constexpr int32_t kThird = 715827883;
  constexpr int32_t kOfEighth = 1895147668;  // e^-0.125
  constexpr int32_t kOfQuarters[7] = {1672461947, 1302514674, 790015084, 290630308,
                                      39332535,   720401,     242};
  if (a == 0) return kOne;
  const auto magnitude = static_cast<uint32_t>(-int64_t{a});
  const uint32_t quarters = (magnitude - 1) / kQuarter;
  const auto rest = -static_cast<int32_t>(magnitude - quarters * kQuarter);  // [-2^24, 0)
  const int32_t x = rest * 32 + (1 << 28);
  const int32_t x2 = multiply_high(x, x);
  const int32_t x3 = multiply_high(x2, x);
  const int32_t x4 = multiply_high(x2, x2);
  const int32_t high = multiply_high(divide_half_away(x4, 2) + x3, kThird) + x2;
  int32_t result = kOfEighth + multiply_high(kOfEighth, x + divide_half_away(high, 1));
  for (uint32_t bit = 0; bit < 7; ++bit) {
    if ((quarters >> bit & 1) != 0) result = multiply_high(result, kOfQuarters[bit]);
  }
  return result;
}

/// Returns 1 / (1 + v) as Q0.31 for v in Q0.31: three Newton steps in Q2.29.
constexpr int32_t one_over_one_plus(int32_t v) {
  const auto half = static_cast<int32_t>((int64_t{v} + kOne + 1) / 2);
  int32_t y = 1515870810 + multiply_high(half, -1010580540);
  for (int step = 0; step < 3; ++step) {
    const int32_t error = (1 << 29) - multiply_high(half, y);
    y += saturate(4 * int64_t{multiply_high(y, error)});
  }
  return saturate(2 * int64_t{y});
}

struct Row {
  const int8_t* x;
  int32_t x_step;
  int8_t* y;
  int32_t y_step;
  uint32_t count;
  [[nodiscard]] int32_t at(uint32_t i) const { return x[static_cast<int32_t>(i) * x_step]; }
};

struct Scale {
  Multiplier factor;
  int32_t least;  // smaller differences count as 0
  /// Returns e^(scale * difference) for difference <= 0.
  [[nodiscard]] int32_t exp(int32_t difference) const {
    return exp_on_negative(
        multiply_high(wrapping_shift(difference, factor.shift), factor.multiplier));
  }
};

void softmax_row(const Row& row, const Scale& scale) {
  constexpr int32_t kSpare = 12;
  constexpr uint32_t kSumMax = uint32_t{1} << 31;
  int32_t most = -128;
  for (uint32_t i = 0; i < row.count; ++i) most = row.at(i) > most ? row.at(i) : most;
  uint32_t sum = 0;
  for (uint32_t i = 0; i < row.count; ++i) {
    const int32_t difference = row.at(i) - most;
    if (difference < scale.least) continue;
    sum += static_cast<uint32_t>(divide_half_away(scale.exp(difference), kSpare));
    if (sum > kSumMax) sum = kSumMax;
  }
  const uint32_t headroom = leading_zeros(sum);
  const int32_t factor = one_over_one_plus(static_cast<int32_t>((sum << headroom) - kSumMax));
  const auto shift = static_cast<int32_t>(35 - headroom);
  for (uint32_t i = 0; i < row.count; ++i) {
    const int32_t difference = row.at(i) - most;
    int32_t value = -128;
    if (difference >= scale.least && shift < 32) {
      value += divide_half_away(multiply_high(factor, scale.exp(difference)), shift);
    }
    row.y[static_cast<int32_t>(i) * row.y_step] = static_cast<int8_t>(value > 127 ? 127 : value);
  }
}

}  // namespace

void softmax(const KernelArgs& args) {
  const KernelRecord& record = args.record;
  const View& a = record.operands[0];
  const View& y = record.output;
  const uint32_t last = a.rank - 1;
  const Scale scale = {args.multiplier(2), record.fill};
  loops_over(a, y, 0, last)
      .for_rows([&](const int32_t(&at)[2], uint32_t count, const int32_t(&steps)[2]) {
        for (uint32_t i = 0; i < count; ++i) {
          const auto k = static_cast<int32_t>(i);
          softmax_row({args.a + at[0] + k * steps[0], a.strides[last],
                       args.y + at[1] + k * steps[1], y.strides[last], a.dims[last]},
                      scale);
        }
      });
}

}  // namespace thimble::neutron::model
