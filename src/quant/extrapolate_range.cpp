// SPDX-License-Identifier: Apache-2.0
#include "quant/extrapolate_range.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>

namespace thimble::quant {
namespace {

constexpr size_t kKnee = 16;
constexpr double kFurthest = 1.3;
// Clipping changes few elements by much; a coarser step changes all elements by little.
constexpr double kWeight = 0.3;

struct Tail {
  double end = 0;  // largest observed magnitude
  double knee = 0;
  double decay = 0;   // 0: nothing is expected beyond `end`
  double beyond = 0;  // fraction of the samples beyond the knee
};

double mean_excess(const std::vector<double>& furthest, size_t knee) {
  double sum = 0;
  for (size_t i = 0; i < knee; ++i) sum += furthest[i] - furthest[knee];
  return sum / static_cast<double>(knee);
}

Tail tail_of(const Extremes& extremes, uint64_t samples) {
  constexpr size_t kFewest = 4;
  const std::vector<double>& furthest = extremes.furthest_first();
  Tail tail;
  if (furthest.empty()) return tail;
  tail.end = furthest[0];
  if (furthest.size() < kFewest || furthest[0] == furthest[1]) return tail;
  const size_t knee = std::min({kKnee, furthest.size() - 1, static_cast<size_t>(samples / 2)});
  tail.knee = furthest[knee];
  tail.decay = mean_excess(furthest, knee);
  tail.beyond = static_cast<double>(knee) / static_cast<double>(samples);
  return tail;
}

/// Returns the end of one side of the range if the other side ends at `other`.
double best_end(const Tail& tail, double other, double elements) {
  constexpr double kStepNoise = 12.0 * 255 * 255;
  constexpr int kHalvings = 40;
  if (!(tail.decay > 0)) return tail.end;
  double low = tail.end, high = tail.end * kFurthest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const double cost = 2 * elements * (middle + other) / kStepNoise;
    const double saved =
        kWeight * 2 * tail.decay * tail.beyond * std::exp(-(middle - tail.knee) / tail.decay);
    (saved > cost ? low : high) = middle;
  }
  return low;
}

}  // namespace

void Extremes::add(double magnitude) {
  furthest_.insert(std::ranges::upper_bound(furthest_, magnitude, std::greater<>()), magnitude);
  if (furthest_.size() > kKnee + 1) furthest_.pop_back();
}

void Extremes::merge(const Extremes& other) {
  for (const double magnitude : other.furthest_) add(magnitude);
}

RangeExtent extrapolate_range(const Extremes& below, const Extremes& above, uint64_t samples,
                              double elements_per_sample) {
  const Tail low = tail_of(below, samples), high = tail_of(above, samples);
  RangeExtent reach{low.end, high.end};
  constexpr int kRounds = 4;  // fixed-point iteration: the two sides depend weakly on each other
  for (int i = 0; i < kRounds; ++i) {
    reach.above = best_end(high, reach.below, elements_per_sample);
    reach.below = best_end(low, reach.above, elements_per_sample);
  }
  return reach;
}

}  // namespace thimble::quant
