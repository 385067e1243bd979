// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calibration statistics of a value: a histogram that does not depend on the order of elements,
// samples or threads.
//
// Bins have width 2^k, and bin i holds the elements x with floor(x / 2^k) = i, so no bin includes
// both signs. When an element is out of range, k is incremented and adjacent bins are merged in
// pairs: floor(floor(x / 2^k) / 2) = floor(x / 2^(k+1)), exactly. The final k depends only on the
// largest magnitude. Therefore add and merge are associative and commutative.
//
// Zeros are counted separately: every quantization represents 0 exactly, and after a relu zeros are
// half of all elements.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "quant/extrapolate_range.h"
#include "quant/quantize.h"

namespace thimble::quant {

class Histogram {
 public:
  static constexpr int64_t kBinsPerSide = 4096;  // at least 16 bins per int8 step

  enum class Detail : uint8_t { kBins, kExtentOnly };
  /// Adds the elements. Returns false and adds nothing if an element is not finite. With
  /// kExtentOnly, counts() remains empty. `detail` must be the same in all calls.
  [[nodiscard]] bool add(std::span<const float> values, Detail detail = Detail::kBins);
  void merge(const Histogram& other);
  /// Extrapolates the range. Called once, after all samples; each sample must be one add() call.
  void extrapolate(uint64_t samples);
  /// Clamps the extrapolated range to these bounds. Called after extrapolate().
  void limit(double low, double high) {
    likely_min_ = std::max(likely_min_, low);
    likely_max_ = std::min(likely_max_, high);
  }
  /// Records that readers do not distinguish elements beyond these bounds (reader_range.h).
  void restrict(double low, double high) { useful_min_ = low, useful_max_ = high; }
  /// Selects the observer for this value, overriding the requested one.
  void choose(Observer observer) { chosen_ = observer; }
  [[nodiscard]] std::optional<Observer> chosen() const { return chosen_; }
  /// Extends the range to `value` for every observer. Used for padding and constants.
  void include(double value);

  /// Records that masked elements were found. They are not counted.
  void mark_masked() { masked_ = true; }
  [[nodiscard]] bool masked() const { return masked_; }

  [[nodiscard]] double min() const { return min_; }  // at most 0
  [[nodiscard]] double max() const { return max_; }
  /// Range extrapolated by extrapolate(); includes min() and max().
  [[nodiscard]] double likely_min() const { return std::min(likely_min_, min_); }
  [[nodiscard]] double likely_max() const { return std::max(likely_max_, max_); }
  [[nodiscard]] double useful_min() const { return useful_min_; }
  [[nodiscard]] double useful_max() const { return useful_max_; }
  [[nodiscard]] double required_min() const { return required_min_; }
  [[nodiscard]] double required_max() const { return required_max_; }
  [[nodiscard]] double bin_width() const;
  [[nodiscard]] uint64_t elements() const { return elements_; }  // includes zeros
  /// Number of non-zero elements with floor(x / bin_width()) = i - kBinsPerSide. Empty if all
  /// elements are 0.
  [[nodiscard]] std::span<const uint64_t> counts() const { return counts_; }

  bool operator==(const Histogram&) const = default;

 private:
  void widen(int exponent);
  void count(std::span<const float> values);

  double min_ = 0, max_ = 0, required_min_ = 0, required_max_ = 0;
  double likely_min_ = 0, likely_max_ = 0;
  double useful_min_ = -std::numeric_limits<double>::infinity();
  double useful_max_ = std::numeric_limits<double>::infinity();
  Extremes below_, above_;  // used until extrapolate()
  std::optional<Observer> chosen_;
  uint64_t elements_ = 0;
  bool masked_ = false;
  int exponent_ = kExponentMin;
  std::vector<uint64_t> counts_;

  static constexpr int kExponentMin = -100;  // smaller magnitudes share the bins next to zero
};

/// Smallest and largest element, extended to include 0. `finite` is false if any element is not.
struct Extent {
  float min = 0, max = 0;
  bool finite = true;
};
[[nodiscard]] Extent extent_of(std::span<const float> values);

}  // namespace thimble::quant
