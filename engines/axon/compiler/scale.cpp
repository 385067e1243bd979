// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/compiler/scale.h"

#include <algorithm>
#include <cmath>

namespace thimble::engine::axon {
namespace {

bool zero_point_fits(int64_t zero_point, int shift) {
  const int64_t magnitude = zero_point < 0 ? -zero_point : zero_point;
  return magnitude * (int64_t{1} << shift) <= INT32_MAX;
}

double times_power(double real, int shift) {
  return std::nearbyint(std::ldexp(real, shift));
}

}  // namespace

std::optional<Scale> scale_for(double real, int64_t zero_point, int64_t mult_max) {
  for (int shift = kShiftMax; shift >= kShiftMin; --shift) {
    const double mult = times_power(real, shift);
    if (!zero_point_fits(zero_point, shift) || !(mult <= static_cast<double>(mult_max))) continue;
    return Scale{static_cast<int32_t>(mult), shift};
  }
  return std::nullopt;
}

std::optional<SumScale> sum_scale_for(double a, double b, int64_t zero_point) {
  const auto scale = scale_for(std::max(a, b), zero_point, kMultOfSum);
  if (!scale) return std::nullopt;
  return SumScale{static_cast<int32_t>(times_power(a, scale->shift)),
                  static_cast<int32_t>(times_power(b, scale->shift)), scale->shift};
}

double real_of(int64_t mult, int64_t shift) {
  return std::ldexp(static_cast<double>(mult), static_cast<int>(shift) - 31);
}

Status check_precision(double real, const Scale& scale, double accumulator_max, double codes) {
  constexpr double kHalf = 0.5;
  const double rounded = std::ldexp(static_cast<double>(scale.mult), -scale.shift);
  const double furthest = real > 0 ? std::min(accumulator_max, codes / real) : 0;
  const double error = std::abs(real - rounded) * furthest;
  if (error <= kHalf) return ok();
  return unsupported(
      "the multiplier {:.3g} has {} of 31 bits next to the zero point (shift {}), which changes "
      "results by {:.1f} quantization steps, at most {} expected: a zero point closer to 0 leaves "
      "more bits",
      real, scale.mult == 0 ? 0 : std::ilogb(static_cast<double>(scale.mult)) + 1, scale.shift,
      error, kHalf);
}

Scale scale_of_edge(double real) {
  for (int shift = kShiftMax; shift > 0; --shift) {
    const double mult = times_power(real, shift);
    if (mult <= static_cast<double>(kMultMax)) return {static_cast<int32_t>(mult), shift};
  }
  const double most = static_cast<double>(kMultMax);
  return {static_cast<int32_t>(std::min(std::nearbyint(real), most)), 0};
}

}  // namespace thimble::engine::axon
