// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checked calibration data, and the observation of the float graph on it.

#include <cstdint>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "ir/graph.h"
#include "quant/histogram.h"
#include "quant/operand_rows.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// Calibration data that matches the graph: correct shapes, finite elements, at least one sample.
class Samples {
 public:
  [[nodiscard]] static Result<Samples> check(const ir::Graph& graph, const CalibrationData& data);

  [[nodiscard]] int64_t count() const { return count_; }
  /// Returns one tensor per graph input, each with the type of its input.
  [[nodiscard]] std::vector<ir::Tensor> sample(int64_t index) const;

 private:
  const ir::Graph* graph_ = nullptr;
  const CalibrationData* data_ = nullptr;
  int64_t count_ = 0;
};

/// Returns element `index` of a tensor of any type as a number.
[[nodiscard]] double element(const ir::Tensor& tensor, size_t index);

/// Observations by value; empty for values that were not observed.
struct Observations {
  std::vector<Histogram> histograms;
  /// Mean per channel of the first operand of convolutions and linear layers. The channel dimension
  /// is 1 for a convolution and the last one for linear.
  std::vector<std::vector<double>> channel_means;
};

/// Runs the float graph on every sample and returns histograms of the values in `observed`. Returns
/// a bad-input error if an activation is not finite. `rows`, if not null, receives operands of the
/// samples from `rows->first_sample()` on. The values of `binned` have bins regardless of `detail`.
[[nodiscard]] Result<Observations> calibrate(const ir::Graph& graph, const Samples& samples,
                                             const std::vector<ir::ValueId>& observed,
                                             Histogram::Detail detail, int threads,
                                             const ProgressFunction& progress = {},
                                             OperandRows* rows = nullptr,
                                             const std::vector<ir::ValueId>& binned = {});

}  // namespace thimble::quant
