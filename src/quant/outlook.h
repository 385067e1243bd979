#pragma once
// The range that a value will need beyond what calibration saw.
//
// Calibration sees few samples; others go further, and what lies outside the range is cut off. How
// much further follows from how the extremes of single samples thin out: their tail is taken for
// exponential, so beyond the k-th furthest sample an extreme of x or more has the probability
//
//   k / samples * exp(-(x - knee) / decay)
//
// The knee is the sixteenth furthest sample, or the one half way if there are fewer than 32, and
// the decay is the mean distance of those beyond from it. A longer range costs the elements of
// every sample a coarser step. The range ends where that costs more than it saves:
//
//   d/dx [elements * (x + other side)^2 / (12 * 255^2) + kWeight * 2 * decay^2 * P(x)] = 0
//
// never below what was seen, and never above kFurthest times that. So ten logits get more room than
// ten thousand pixels. Where the two furthest samples are equal, an end was reached (relu6, a
// saturated sensor), and the range stays as it is.

#include <cstdint>
#include <vector>

namespace thimble::quant {

/// The furthest elements of single samples, on one side of zero. Does not depend on the order.
class Extremes {
 public:
  void add(double magnitude);
  void merge(const Extremes& other);
  [[nodiscard]] const std::vector<double>& furthest_first() const { return furthest_; }

  bool operator==(const Extremes&) const = default;

 private:
  std::vector<double> furthest_;
};

/// Magnitudes: how far the range goes below and above zero.
struct Reach {
  double below = 0, above = 0;
};
[[nodiscard]] Reach outlook(const Extremes& below, const Extremes& above, uint64_t samples,
                            double elements_per_sample);

}  // namespace thimble::quant
