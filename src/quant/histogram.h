#pragma once
// What calibration remembers of a value: a histogram whose content does not depend on the order in
// which elements, samples or threads came.
//
// Bins have the width 2^k and bin i holds floor(x / 2^k) = i, so a bin never straddles zero. When
// an element lies outside, k grows and neighbours join pairwise: floor(floor(x / 2^k) / 2) =
// floor(x / 2^(k+1)), exactly. The final k follows from the largest magnitude alone; hence add and
// merge are associative and commutative.
//
// Zeros are counted apart: every quantization holds them exactly, and after relu they are half of
// all elements.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "quant/outlook.h"
#include "quant/quantize.h"

namespace thimble::quant {

class Histogram {
 public:
  static constexpr int64_t kBinsPerSide = 4096;  // one side spans 16 or more bins per int8 code

  enum class Detail : uint8_t { kBins, kExtentOnly };
  /// False, and nothing is added, if an element is not finite. With kExtentOnly, counts() stays
  /// empty; a histogram is filled one way or the other.
  [[nodiscard]] bool add(std::span<const float> values, Detail detail = Detail::kBins);
  void merge(const Histogram& other);
  /// Once, when all samples are in, each of which was added by itself.
  void look_out(uint64_t samples);
  /// After look_out(): nothing lies beyond these, whatever the tail says.
  void limit(double low, double high) {
    likely_min_ = std::max(likely_min_, low);
    likely_max_ = std::min(likely_max_, high);
  }
  /// For this value, instead of the observer that is asked for.
  void choose(Observer observer) { chosen_ = observer; }
  [[nodiscard]] std::optional<Observer> chosen() const { return chosen_; }
  /// The range must reach `value`, whatever observers make of the elements (padding, constants).
  void include(double value);

  /// Elements that hide a position were seen, and left out.
  void mark_masked() { masked_ = true; }
  [[nodiscard]] bool masked() const { return masked_; }

  [[nodiscard]] double min() const { return min_; }  // always includes zero
  [[nodiscard]] double max() const { return max_; }
  /// What look_out() expects; at least min() to max().
  [[nodiscard]] double likely_min() const { return std::min(likely_min_, min_); }
  [[nodiscard]] double likely_max() const { return std::max(likely_max_, max_); }
  [[nodiscard]] double required_min() const { return required_min_; }
  [[nodiscard]] double required_max() const { return required_max_; }
  [[nodiscard]] double bin_width() const;
  [[nodiscard]] uint64_t elements() const { return elements_; }  // zeros included
  /// Elements other than zero with floor(x / bin_width()) = i - kBinsPerSide. Empty if all are 0.
  [[nodiscard]] std::span<const uint64_t> counts() const { return counts_; }

  bool operator==(const Histogram&) const = default;

 private:
  void widen(int exponent);
  void count(std::span<const float> values);

  double min_ = 0, max_ = 0, required_min_ = 0, required_max_ = 0;
  double likely_min_ = 0, likely_max_ = 0;
  Extremes below_, above_;  // until look_out()
  std::optional<Observer> chosen_;
  uint64_t elements_ = 0;
  bool masked_ = false;
  int exponent_ = kExponentMin;
  std::vector<uint64_t> counts_;

  static constexpr int kExponentMin = -100;  // smaller elements share the bins next to zero
};

/// Smallest and largest element, with zero among them; `finite` is false if any is not.
struct Extent {
  float min = 0, max = 0;
  bool finite = true;
};
[[nodiscard]] Extent extent_of(std::span<const float> values);

}  // namespace thimble::quant
