// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <algorithm>
#include <cmath>

namespace thimble::quant {
namespace {

constexpr int kBinBits = 12;
static_assert(Histogram::kBinsPerSide == int64_t{1} << kBinBits);

}  // namespace

Extent extent_of(std::span<const float> values) {
  // Independent lanes allow vectorization. x - x is 0, or NaN if x is not finite.
  constexpr size_t kLanes = 16;
  float low[kLanes] = {}, high[kLanes] = {}, wrong[kLanes] = {};
  const float* x = values.data();
  const size_t count = values.size();
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = x[i + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = value > high[lane] ? value : high[lane];
      wrong[lane] += value - value;
    }
  }
  for (; i < count; ++i) {
    low[0] = x[i] < low[0] ? x[i] : low[0];
    high[0] = x[i] > high[0] ? x[i] : high[0];
    wrong[0] += x[i] - x[i];
  }
  Extent extent;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    extent.min = std::min(extent.min, low[lane]);
    extent.max = std::max(extent.max, high[lane]);
    extent.finite = extent.finite && wrong[lane] == 0;
  }
  return extent;
}

double Histogram::bin_width() const {
  return std::ldexp(1.0, exponent_);
}

bool Histogram::add(std::span<const float> values, Detail detail) {
  const Extent extent = extent_of(values);
  if (!extent.finite) return false;
  min_ = std::min(min_, static_cast<double>(extent.min));
  max_ = std::max(max_, static_cast<double>(extent.max));
  elements_ += values.size();
  below_.add(-static_cast<double>(extent.min));
  above_.add(static_cast<double>(extent.max));
  const float magnitude = std::max(-extent.min, extent.max);
  if (magnitude == 0 || detail == Detail::kExtentOnly) return true;
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
  widen(exponent - kBinBits);
  count(values);
  return true;
}

void Histogram::widen(int exponent) {
  if (counts_.empty()) counts_.assign(2 * kBinsPerSide, 0);
  if (exponent <= exponent_) return;
  const int steps = std::min(exponent - exponent_, kBinBits + 1);
  exponent_ = exponent;
  std::vector<uint64_t> joined(counts_.size(), 0);
  for (int64_t i = 0; i < 2 * kBinsPerSide; ++i) {
    const int64_t bin = (i - kBinsPerSide) >> steps;
    joined[static_cast<size_t>(bin + kBinsPerSide)] += counts_[static_cast<size_t>(i)];
  }
  counts_ = std::move(joined);
}

void Histogram::count(std::span<const float> values) {
  constexpr size_t kBlock = 512;
  const float inverse_width = std::ldexp(1.0F, -exponent_);
  uint64_t* bins = counts_.data() + kBinsPerSide;
  uint64_t zeros = 0;
  int32_t index[kBlock];
  for (size_t start = 0; start < values.size(); start += kBlock) {
    const size_t size = std::min(kBlock, values.size() - start);
    const float* x = values.data() + start;
    int32_t zeros_here = 0;
    for (size_t i = 0; i < size; ++i) {
      const float scaled = x[i] * inverse_width;  // exact: the width is a power of two
      const int32_t whole = static_cast<int32_t>(scaled);
      index[i] = whole - (scaled < static_cast<float>(whole) ? 1 : 0);
      zeros_here += x[i] == 0 ? 1 : 0;
    }
    zeros += static_cast<uint64_t>(zeros_here);
    for (size_t i = 0; i < size; ++i) ++bins[index[i]];
  }
  bins[0] -= zeros;
}

void Histogram::merge(const Histogram& other) {
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  required_min_ = std::min(required_min_, other.required_min_);
  required_max_ = std::max(required_max_, other.required_max_);
  likely_min_ = std::min(likely_min_, other.likely_min_);
  likely_max_ = std::max(likely_max_, other.likely_max_);
  below_.merge(other.below_);
  above_.merge(other.above_);
  if (!chosen_) chosen_ = other.chosen_;
  // A histogram without elements is that of a value that was not observed.
  if (other.elements_ > 0) {
    useful_min_ = elements_ > 0 ? std::min(useful_min_, other.useful_min_) : other.useful_min_;
    useful_max_ = elements_ > 0 ? std::max(useful_max_, other.useful_max_) : other.useful_max_;
  }
  elements_ += other.elements_;
  masked_ = masked_ || other.masked_;
  if (other.counts_.empty()) return;
  widen(other.exponent_);
  const int steps = std::min(exponent_ - other.exponent_, kBinBits + 1);
  for (int64_t i = 0; i < 2 * kBinsPerSide; ++i) {
    const int64_t bin = (i - kBinsPerSide) >> steps;
    counts_[static_cast<size_t>(bin + kBinsPerSide)] += other.counts_[static_cast<size_t>(i)];
  }
}

void Histogram::extrapolate(uint64_t samples) {
  const double count = static_cast<double>(samples);
  const RangeExtent reach =
      extrapolate_range(below_, above_, samples, static_cast<double>(elements_) / count);
  likely_min_ = -reach.below;
  likely_max_ = reach.above;
  below_ = above_ = {};
}

void Histogram::include(double value) {
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  required_min_ = std::min(required_min_, value);
  required_max_ = std::max(required_max_, value);
}

}  // namespace thimble::quant
