// SPDX-License-Identifier: Apache-2.0
#include "eval/spectrum.h"

#include <numbers>

namespace thimble::eval {

PowerSpectrum::PowerSpectrum(std::span<const float> window, const MathFunctions& math)
    : window_(window),
      frame_(window.size()),
      spectrum_(window.size()),
      powers_(window.size() / 2 + 1) {
  const size_t n = window.size();
  for (size_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    twiddles_.emplace_back(math.cos(angle), -math.sin(angle));
  }
}

/// The transform of the even and of the odd elements gives that of an even number of elements; that
/// of an odd number is computed from its definition.
void PowerSpectrum::transform(const Complex* x, size_t count, size_t step, Complex* y) {
  const size_t n = twiddles_.size();
  if (count % 2 != 0) {
    for (size_t k = 0; k < count; ++k) {
      y[k] = 0;
      for (size_t i = 0; i < count; ++i) y[k] += x[i * step] * twiddles_[i * k * step % n];
    }
    return;
  }
  const size_t half = count / 2;
  transform(x, half, 2 * step, y);
  transform(x + step, half, 2 * step, y + half);
  for (size_t k = 0; k < half; ++k) {
    const Complex even = y[k], odd = y[half + k] * twiddles_[k * step];
    y[k] = even + odd;
    y[half + k] = even - odd;
  }
}

std::span<const double> PowerSpectrum::of(const float* x) {
  for (size_t i = 0; i < frame_.size(); ++i) {
    frame_[i] = static_cast<double>(x[i]) * static_cast<double>(window_[i]);
  }
  transform(frame_.data(), frame_.size(), 1, spectrum_.data());
  for (size_t k = 0; k < powers_.size(); ++k) powers_[k] = std::norm(spectrum_[k]);
  return powers_;
}

}  // namespace thimble::eval
