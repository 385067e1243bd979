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

#include <cstdint>
#include <span>
#include <vector>

namespace thimble::quant {

class Histogram {
 public:
  static constexpr int64_t kBinsPerSide = 4096;  // one side spans 16 or more bins per int8 code

  enum class Detail : uint8_t { kBins, kExtentOnly };
  /// False, and nothing is added, if an element is not finite. With kExtentOnly, counts() stays
  /// empty; a histogram is filled one way or the other.
  [[nodiscard]] bool add(std::span<const float> values, Detail detail = Detail::kBins);
  void merge(const Histogram& other);
  /// The range must reach `value`, whatever observers make of the elements (padding, constants).
  void include(double value);

  /// Elements that hide a position were seen, and left out.
  void mark_masked() { masked_ = true; }
  [[nodiscard]] bool masked() const { return masked_; }

  [[nodiscard]] double min() const { return min_; }  // always includes zero
  [[nodiscard]] double max() const { return max_; }
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
