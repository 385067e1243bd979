// SPDX-License-Identifier: Apache-2.0
#pragma once
// Extrapolates the range of a value beyond the calibration samples.
//
// Calibration uses few samples; other samples may exceed their range and are then clipped. The
// distribution of per-sample extremes predicts by how much. Its tail is modeled as exponential:
// beyond the k-th largest sample, an extreme of at least x has the probability
//
//   k / samples * exp(-(x - knee) / decay)
//
// The knee is the 16th largest sample, or the middle one if there are fewer than 32. The decay is
// the mean distance of the samples beyond the knee from it. A longer range makes the step coarser
// for the elements of every sample. The range ends where this costs more than it saves:
//
//   d/dx [elements * (x + other side)^2 / (12 * 255^2) + kWeight * 2 * decay^2 * P(x)] = 0
//
// The end is at least the observed extreme and at most kFurthest times it. Ten logits thus get more
// margin than ten thousand pixels. If the two largest samples are equal, a bound was reached
// (relu6, a saturated sensor), and the range is not extended.

#include <cstdint>
#include <vector>

namespace thimble::quant {

/// The largest per-sample magnitudes on one side of zero. Independent of the order of samples.
class Extremes {
 public:
  void add(double magnitude);
  void merge(const Extremes& other);
  [[nodiscard]] const std::vector<double>& furthest_first() const { return furthest_; }

  bool operator==(const Extremes&) const = default;

 private:
  std::vector<double> furthest_;
};

/// Magnitudes of the ends of a range below and above zero.
struct RangeExtent {
  double below = 0, above = 0;
};
[[nodiscard]] RangeExtent extrapolate_range(const Extremes& below, const Extremes& above,
                                            uint64_t samples, double elements_per_sample);

}  // namespace thimble::quant
