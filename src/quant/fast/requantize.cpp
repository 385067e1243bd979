// SPDX-License-Identifier: Apache-2.0
#include "quant/fast/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "numerics/fixed_point.h"
#include "numerics/int16.h"

namespace thimble::quant {
namespace {

constexpr double kNumberMax = 0x1p30;  // of numbers that are rounded here
constexpr double kWhole = 0x1.8p52;    // numbers around it have no fraction

/// Rounds the numbers to the nearest integers. Returns false if one of them is close to the middle
/// of two integers, or too large. The margin covers the rounding of products in double: their error
/// is below 2^-22.
bool round_block(const double* numbers, int32_t* rounded) {
  constexpr double kMargin = 0.5 - 0x1p-20;
  int64_t signs = 0;
  for (int64_t i = 0; i < kRequantizeBlock; ++i) {
    const double nearest = (numbers[i] + kWhole) - kWhole;
    signs |= std::bit_cast<int64_t>(kMargin - std::abs(numbers[i] - nearest)) |
             std::bit_cast<int64_t>(kNumberMax - std::abs(numbers[i]));
    rounded[i] = static_cast<int32_t>(nearest);
  }
  return signs >= 0;
}

/// Multiplies with a negative power of 2 and rounds to the nearest integers, halves away from zero.
/// Half of the last bit is added, away from zero, so that no product is a half: everything is
/// exact.
void divide_block(double divisor, int32_t* values) {
  for (int64_t i = 0; i < kRequantizeBlock; ++i) {
    const double value = values[i];
    const double quotient = (value + std::copysign(0.5, value)) * divisor;
    values[i] = static_cast<int32_t>((quotient + kWhole) - kWhole);
  }
}

}  // namespace

Requantizer::Requantizer(int32_t mult, int32_t shift, bool single)
    : mult_(mult),
      shift_(shift),
      single_(single),
      factor_(std::ldexp(static_cast<double>(mult), single ? shift - 31 : -31)),
      divisor_(single ? 1 : std::ldexp(1, std::min(shift, 0))) {}

int32_t Requantizer::operator()(int32_t value) const {
  return single_ ? numerics::requantize_single(value, mult_, shift_)
                 : numerics::requantize(value, mult_, shift_);
}

void Requantizer::run_block(int32_t* values) const {
  if (single_ || shift_ <= 0) {  // a left shift wraps
    double products[kRequantizeBlock];
    int32_t rounded[kRequantizeBlock];
    for (int64_t i = 0; i < kRequantizeBlock; ++i) products[i] = values[i] * factor_;
    if (round_block(products, rounded)) {
      if (divisor_ != 1) divide_block(divisor_, rounded);
      std::copy(rounded, rounded + kRequantizeBlock, values);
      return;
    }
  }
  for (int64_t i = 0; i < kRequantizeBlock; ++i) values[i] = (*this)(values[i]);
}

WideRequantizer::WideRequantizer(int64_t bias, int32_t mult, int32_t shift)
    : bias_(bias), mult_(mult), shift_(shift) {
  // The 15-bit multiplier that requantize64 uses.
  const int64_t reduced = mult < 0x7FFF0000 ? (int64_t{mult} + (1 << 15)) >> 16 : 0x7FFF;
  factor_ = std::ldexp(static_cast<double>(reduced), shift - 15);
}

int32_t WideRequantizer::operator()(int64_t sum) const {
  return numerics::requantize64(sum + bias_, mult_, shift_);
}

void WideRequantizer::run_block(int32_t* sums) const {
  double products[kRequantizeBlock];
  int32_t rounded[kRequantizeBlock];
  const double bias = static_cast<double>(bias_);
  for (int64_t i = 0; i < kRequantizeBlock; ++i) products[i] = (sums[i] + bias) * factor_;
  if (round_block(products, rounded)) {
    std::copy(rounded, rounded + kRequantizeBlock, sums);
    return;
  }
  for (int64_t i = 0; i < kRequantizeBlock; ++i) sums[i] = (*this)(sums[i]);
}

}  // namespace thimble::quant
