// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures how close the outputs of a compiled model are to the float model's, over many calls.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor.h"

namespace thimble::tools {

/// 10 log10(sum (reference - mean over samples)^2 / sum (reference - got)^2), with a mean for each
/// element; for one sample, the mean over its elements. Infinite if nothing differs; NaN if the
/// reference is constant.
class Sqnr {
 public:
  void add(const ir::Tensor& reference, const ir::Tensor& got);
  [[nodiscard]] double decibels() const;

 private:
  int64_t samples_ = 0;
  double noise_ = 0;
  std::vector<double> sum_;      // per element
  std::vector<double> squares_;  // per element, of the difference from the first value
  std::vector<double> first_;    // per element, that is not masked
  std::vector<double> counts_;   // per element, of values that are not masked
};

/// "36.4 dB", "exact" for an infinite SQNR, "constant" for NaN.
[[nodiscard]] std::string decibels_text(double decibels);

/// The values of a tensor of any type.
[[nodiscard]] std::vector<double> values_of(const ir::Tensor& tensor);

/// Returns scale * (code - zero_point) for each code of an integer tensor, as float32.
[[nodiscard]] ir::Tensor to_real(const ir::Tensor& codes, double scale, int32_t zero_point);

/// Index of the largest value along the last axis, per row; the first one if several are equal.
[[nodiscard]] std::vector<int64_t> top1(const ir::Tensor& tensor);

/// Returns the classes of an output: its values if it has integers (the result of argmax), else the
/// index of the maximum of each row. Nothing if the output has no classes: the last axis of
/// `reference`, the float model's output, has fewer than two elements.
[[nodiscard]] std::optional<std::vector<int64_t>> classes_of(const ir::Tensor& reference,
                                                             const ir::Tensor& tensor);

/// Share of hits; no value if nothing was counted.
class HitRate {
 public:
  void add(bool hit) {
    hits_ += hit ? 1 : 0;
    all_ += 1;
  }
  [[nodiscard]] std::optional<double> value() const;

 private:
  int64_t hits_ = 0;
  int64_t all_ = 0;
};

}  // namespace thimble::tools
