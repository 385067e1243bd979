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
  /// One float tensor per graph input.
  [[nodiscard]] std::vector<ir::Tensor> sample(int64_t index) const;

 private:
  const ir::Graph* graph_ = nullptr;
  const CalibrationData* data_ = nullptr;
  int64_t count_ = 0;
};

/// Runs the float graph on every sample. By value; empty where the value is not in `observed`.
/// Bad input if an activation is not finite.
[[nodiscard]] Result<std::vector<Histogram>> calibrate(const ir::Graph& graph,
                                                       const Samples& samples,
                                                       const std::vector<ir::ValueId>& observed,
                                                       int threads);

}  // namespace thimble::quant
