// SPDX-License-Identifier: Apache-2.0
#include "quant/range.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace thimble::quant {
namespace {

// Smaller scales would make 1 / scale or products of scales exceed the range of float32.
constexpr double kScaleMin = 0x1p-60;

/// Prefix sums over bins: sums of all elements below bin edge i. Edge kBinsPerSide is zero.
class Moments {
 public:
  explicit Moments(const Histogram& histogram) : width_(histogram.bin_width()) {
    const auto counts = histogram.counts();
    sums_.resize(counts.size() + 1);
    for (size_t i = 0; i < counts.size(); ++i) {
      const double n = static_cast<double>(counts[i]);
      const double center = (static_cast<double>(i) + 0.5 - kZero) * width_;
      sums_[i + 1] = {sums_[i].n + n, sums_[i].x + n * center, sums_[i].xx + n * center * center};
    }
  }

  /// Returns the sum of squared errors if all elements in [low, high) are replaced by `value`.
  [[nodiscard]] double error(double low, double high, double value) const {
    const Sums& a = sums_[edge(low)];
    const Sums& b = sums_[edge(high)];
    return (b.xx - a.xx) - 2 * value * (b.x - a.x) + value * value * (b.n - a.n);
  }

 private:
  struct Sums {
    double n = 0, x = 0, xx = 0;
  };
  static constexpr double kZero = static_cast<double>(Histogram::kBinsPerSide);

  [[nodiscard]] size_t edge(double x) const {
    const double position = std::floor(x / width_ + 0.5) + kZero;
    return static_cast<size_t>(std::clamp(position, 0.0, static_cast<double>(sums_.size() - 1)));
  }

  double width_;
  std::vector<Sums> sums_;
};

double squared_error(const Moments& moments, const Range& range) {
  constexpr double kFar = std::numeric_limits<double>::max();
  const Params params = params_for(range);
  const double half = params.scale / 2;
  double sum = moments.error(-kFar, params.real(-128) - half, params.real(-128)) +
               moments.error(params.real(127) + half, kFar, params.real(127));
  for (int32_t code = -128; code <= 127; ++code) {
    const double value = params.real(code);
    sum += moments.error(value - half, value + half, value);
  }
  return sum;
}

/// Returns the range with the least squared error among scaled versions of the whole range. Both
/// sides are scaled together first, then each side separately around the best result.
Range least_squared_error(const Histogram& histogram) {
  const Moments moments(histogram);
  const Range whole{histogram.min(), histogram.max()};
  Range best = whole;
  double best_error = squared_error(moments, best);
  const auto attempt = [&](const Range& range) {
    if (range.low == best.low && range.high == best.high) return;
    const double error = squared_error(moments, range);
    if (!(error < best_error)) return;
    best = range;
    best_error = error;
  };
  for (int percent = 98; percent >= 10; percent -= 2) {
    attempt({whole.low * percent / 100, whole.high * percent / 100});
  }
  for (int round = 0; round < 2; ++round) {
    const Range start = best;
    if (whole.low < 0) {
      for (int percent = 130; percent >= 50; percent -= 4) {
        attempt({std::max(whole.low, start.low * percent / 100), best.high});
      }
    }
    for (int percent = 130; percent >= 50 && whole.high > 0; percent -= 4) {
      attempt({best.low, std::min(whole.high, start.high * percent / 100)});
    }
  }
  return best;
}

/// Clips 1 of 10,000 elements on each side.
Range percentile(const Histogram& histogram) {
  constexpr double kTail = 1e-4;
  const double allowed = kTail * static_cast<double>(histogram.elements());
  const auto counts = histogram.counts();
  const double zero = static_cast<double>(Histogram::kBinsPerSide);
  Range range;
  double below = 0;
  for (size_t i = 0; i < counts.size() / 2; ++i) {
    below += static_cast<double>(counts[i]);
    if (below <= allowed) continue;
    range.low = std::max(histogram.min(), (static_cast<double>(i) - zero) * histogram.bin_width());
    break;
  }
  double above = 0;
  for (size_t i = counts.size(); i > counts.size() / 2; --i) {
    above += static_cast<double>(counts[i - 1]);
    if (above <= allowed) continue;
    range.high = std::min(histogram.max(), (static_cast<double>(i) - zero) * histogram.bin_width());
    break;
  }
  return range;
}

}  // namespace

std::string_view io_name(Io io) {
  constexpr std::string_view kNames[] = {"float", "int8", "uint8", "int16"};
  return kNames[static_cast<size_t>(io)];
}

std::string_view observer_name(Observer observer) {
  switch (observer) {
    case Observer::kMinMax:
      return "min-max";
    case Observer::kPercentile:
      return "percentile";
    case Observer::kMse:
      return "mse";
    case Observer::kExtrapolate:
      return "extrapolate";
  }
  return "";
}

int32_t Params::code(double real) const {
  if (std::isnan(real)) return zero_point;
  if (masked && real <= kMaskedMax) return -128;
  const double position = std::nearbyint(real / scale) + zero_point;
  return static_cast<int32_t>(
      std::clamp(position, static_cast<double>(lowest()), static_cast<double>(max)));
}

float Params::real_f32(int64_t code) const {
  return static_cast<float>(code - zero_point) * static_cast<float>(scale);
}

int32_t Params::code_f32(float real) const {
  if (std::isnan(real)) return zero_point;
  const float inverse = 1.0F / static_cast<float>(scale);
  const double position = std::nearbyint(static_cast<double>(real * inverse)) + zero_point;
  return static_cast<int32_t>(
      std::clamp(position, static_cast<double>(min), static_cast<double>(max)));
}

Range choose_range(const Histogram& histogram, Observer wanted, bool whole) {
  const Observer observer = histogram.chosen().value_or(wanted);
  Range range{histogram.min(), histogram.max()};
  if (observer == Observer::kExtrapolate) {
    range = {histogram.likely_min(), histogram.likely_max()};
    if (!whole) {
      range.low = std::max(range.low, histogram.useful_min());
      range.high = std::min(range.high, histogram.useful_max());
    }
  }
  if (!histogram.counts().empty()) {
    if (observer == Observer::kPercentile) range = percentile(histogram);
    if (observer == Observer::kMse) range = least_squared_error(histogram);
  }
  return {std::min(range.low, histogram.required_min()),
          std::max(range.high, histogram.required_max())};
}

Params params_for(const Range& range, bool masked) {
  Params params;
  params.masked = masked;
  const double width = range.high - range.low;
  if (!(width > 0)) return params;
  const double lowest = params.lowest();
  const double finest = std::max(width / (127 - lowest), kScaleMin);
  // The zero point is an integer. The scale must be coarse enough for the side of the range that
  // gets fewer steps.
  const auto scale_with = [&](double zero_point) {
    const double below = range.low < 0 ? range.low / (lowest - zero_point) : 0;
    const double above = range.high > 0 ? range.high / (127 - zero_point) : 0;
    return std::max({below, above, kScaleMin});
  };
  const double between = lowest - range.low / finest;
  const double down = std::clamp(std::floor(between), lowest + (range.low < 0 ? 1 : 0), 127.0);
  const double up = std::clamp(std::ceil(between), lowest, range.high > 0 ? 126.0 : 127.0);
  const double zero_point = scale_with(down) < scale_with(up) ? down : up;
  params.scale = static_cast<double>(static_cast<float>(scale_with(zero_point)));
  params.zero_point = static_cast<int32_t>(zero_point);
  return params;
}

Params symmetric_params_for(const Range& range) {
  Params params;
  const double reach = std::max(-range.low, range.high);
  if (!(reach > 0)) return params;
  params.scale = static_cast<double>(static_cast<float>(std::max(reach / 127, kScaleMin)));
  return params;
}

Params wide_params(double scale) {
  Params params;
  params.scale = scale;
  params.min = INT16_MIN;
  params.max = INT16_MAX;
  params.wide = true;
  return params;
}

Params wide_params_for(const Range& range) {
  constexpr double kCodeMax = 32767;
  // Reserves one bit for larger values in other samples: clipping costs more than the coarser step.
  constexpr double kHeadroom = 2;
  const double reach = kHeadroom * std::max(-range.low, range.high);
  const double scale = reach > 0 ? std::max(reach / kCodeMax, kScaleMin) : 1;
  return wide_params(static_cast<double>(static_cast<float>(scale)));
}

Params sample_params_for(const Range& range) {
  constexpr double kCodes = 32768;
  double reach = 1;
  while (reach < std::max(-range.low, range.high)) reach *= 2;
  return wide_params(reach / kCodes);
}

Params widened(const Params& narrow) {
  return wide_params(narrow.scale / 128);
}

Params read(const Params& own, const Params& narrow, bool wide) {
  if (own.wide == wide) return own;
  return wide ? widened(own) : narrow;
}

Params narrowed(const Params& wide) {
  return params_for({std::min(0.0, wide.real(wide.min)), std::max(0.0, wide.real(wide.max))});
}

Params with_scale_at_least(const Params& params, double scale) {
  if (params.scale >= scale) return params;
  if (params.wide) {
    Params raised = params;
    raised.scale = static_cast<double>(static_cast<float>(scale));
    return raised;
  }
  if (params.zero_point == 0 && params.min == -128 && params.max == 127 && !params.masked) {
    Params raised = params;
    raised.scale = static_cast<double>(static_cast<float>(scale));
    return raised;
  }
  const double ratio = scale / params.scale;
  return params_for({params.real(params.lowest()) * ratio, params.real(127) * ratio},
                    params.masked);
}

}  // namespace thimble::quant
