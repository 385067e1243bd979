#pragma once
// How close the outputs of a compiled model are to the float model's, over many calls.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/tensor.h"

namespace thimble::tools {

/// 10 log10(sum (reference - mean over samples)^2 / sum (reference - got)^2), the mean taken for
/// each element by itself. Infinite where nothing differs; NaN where the reference never varies.
class Sqnr {
 public:
  void add(const ir::Tensor& reference, const ir::Tensor& got);
  [[nodiscard]] double decibels() const;

 private:
  int64_t samples_ = 0;
  double noise_ = 0;
  std::vector<double> sum_;      // by element
  std::vector<double> squares_;  // by element, of the distance from the first sample
  std::vector<double> first_;
};

/// The values of a tensor, whatever its type.
[[nodiscard]] std::vector<double> values_of(const ir::Tensor& tensor);

/// Index of the largest value along the last axis, per row; the first of equal ones.
[[nodiscard]] std::vector<int64_t> top1(const ir::Tensor& tensor);

/// Parts of a whole; none of nothing.
class Share {
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
