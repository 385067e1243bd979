#include "quant/fast/requantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "numerics/fixed_point.h"
#include "numerics/int16.h"

namespace thimble::quant {
namespace {

/// Covers the rounding of products in double: their error is below 2^-22 if they are below 2^30.
constexpr double kUncertain = 0x1p-20;
constexpr double kNumberMax = 0x1p30;  // of numbers that are rounded here

/// Rounds the numbers to the nearest integers. Returns false if one of them has a distance above
/// `margin` from its integer, or is too large.
bool round_block(const double* numbers, double margin, int32_t* rounded) {
  constexpr double kWhole = 0x1.8p52;  // numbers around it have no fraction
  int64_t signs = 0;
  for (int64_t i = 0; i < kRequantizeBlock; ++i) {
    const double nearest = (numbers[i] + kWhole) - kWhole;
    signs |= std::bit_cast<int64_t>(margin - std::abs(numbers[i] - nearest)) |
             std::bit_cast<int64_t>(kNumberMax - std::abs(numbers[i]));
    rounded[i] = static_cast<int32_t>(nearest);
  }
  return signs >= 0;
}

}  // namespace

Requantizer::Requantizer(int32_t mult, int32_t shift, bool single)
    : mult_(mult),
      shift_(shift),
      single_(single),
      factor_(std::ldexp(static_cast<double>(mult), shift - 31)),
      margin_(0.5 - kUncertain - (single ? 0 : std::ldexp(0.5, std::min(shift, 0)))) {
  // A left shift wraps.
  if (shift > 0) margin_ = -1;
}

int32_t Requantizer::operator()(int32_t value) const {
  return single_ ? numerics::requantize_single(value, mult_, shift_)
                 : numerics::requantize(value, mult_, shift_);
}

void Requantizer::run_block(int32_t* values) const {
  if (margin_ >= 0) {
    double products[kRequantizeBlock];
    int32_t rounded[kRequantizeBlock];
    for (int64_t i = 0; i < kRequantizeBlock; ++i) products[i] = values[i] * factor_;
    if (round_block(products, margin_, rounded)) {
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
  if (round_block(products, 0.5 - kUncertain, rounded)) {
    std::copy(rounded, rounded + kRequantizeBlock, sums);
    return;
  }
  for (int64_t i = 0; i < kRequantizeBlock; ++i) sums[i] = (*this)(sums[i]);
}

}  // namespace thimble::quant
