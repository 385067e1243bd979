#pragma once
// Calibration data, checked, and what the float graph does with it.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "quant/histogram.h"
#include "quant/quantize.h"

namespace thimble::quant {

/// Calibration data that fits the graph: right shapes, finite, at least one sample.
class Samples {
 public:
  [[nodiscard]] static Result<Samples> check(const ir::Graph& graph, const CalibrationData& data);

  [[nodiscard]] int64_t count() const { return count_; }
  /// One tensor of its type per graph input.
  [[nodiscard]] std::vector<ir::Tensor> sample(int64_t index) const;

 private:
  const ir::Graph* graph_ = nullptr;
  const CalibrationData* data_ = nullptr;
  int64_t count_ = 0;
};

/// Element `index` as a number, whatever the type.
[[nodiscard]] double element(const ir::Tensor& tensor, size_t index);

/// By value; empty where a value was not looked at.
struct Observations {
  std::vector<Histogram> histograms;
  /// Mean of each input channel of convolutions and linear: dimension 1, or the last.
  std::vector<std::vector<double>> channel_means;
};

/// Runs the float graph on every sample; histograms for the values in `observed`.
/// Bad input if an activation is not finite.
[[nodiscard]] Result<Observations> calibrate(const ir::Graph& graph, const Samples& samples,
                                             const std::vector<ir::ValueId>& observed,
                                             Histogram::Detail detail, int threads);

}  // namespace thimble::quant
