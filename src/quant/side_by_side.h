// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the float graph and the integer graph on the same samples and compares them value by value.

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "quant/calibrate.h"
#include "quant/fast/executor.h"
#include "quant/lower.h"

namespace thimble::quant {

/// The sums for SQNR. They must be added in a fixed order: double addition is not associative.
struct Sums {
  double count = 0, reference = 0, squares = 0, noise = 0;

  void add(const Sums& other);
  /// Returns the sum of (reference - its mean)^2; 0 if that is only rounding.
  [[nodiscard]] double signal() const;
};
[[nodiscard]] Sums compare(const ir::Tensor& reference, const ir::Tensor& codes,
                           const ir::Quant& quant);
/// Returns 10 log10(signal / noise): infinite without noise, NaN without signal, and -infinite if
/// the signal or the noise is not finite.
[[nodiscard]] double decibels(double signal, double noise);

/// Returns true for -inf, with which a network masks an output: it has no number, so a program
/// whose result is any smaller number has no error.
[[nodiscard]] inline bool is_masked_output(double value) {
  return std::isinf(value) && value < 0;
}

/// Returns the square of an error: 0 if the reference is masked and the result is not NaN or inf.
[[nodiscard]] inline double square_of_error(double reference, double got) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (is_masked_output(reference)) return got < kInfinity ? 0 : kInfinity;
  return (reference - got) * (reference - got);
}
/// Returns `signal`, or 0 if it is not more than the rounding of a sum of `squares`.
[[nodiscard]] double without_rounding(double signal, double squares);

/// Returns the inputs of the integer graph for those of the float graph.
[[nodiscard]] std::vector<ir::Tensor> integer_inputs(const ir::Graph& graph,
                                                     std::vector<ir::Tensor> inputs);

/// A float engine and an integer engine for one thread.
class SideBySide {
 public:
  SideBySide(const ir::Graph& float_graph, const LoweredGraph& lowered);

  /// Called with the index of a counterpart, its float value and its quantized values.
  using Seen = std::function<void(size_t, const ir::Tensor&, const ir::Tensor&)>;
  /// Called with a linear of the float graph, its operand and its result.
  using SeenLinear = std::function<void(const ir::Op&, const ir::Tensor&, const ir::Tensor&)>;
  void run(const std::vector<ir::Tensor>& inputs, const Seen& seen,
           const SeenLinear& seen_linear = {});

  [[nodiscard]] std::vector<ir::Tensor> float_outputs() const { return float_engine_.outputs(); }
  [[nodiscard]] std::vector<ir::Tensor> integer_outputs() const {
    return integer_engine_.outputs();
  }

 private:
  const LoweredGraph& lowered_;
  FastExecutor float_engine_;
  FastExecutor integer_engine_;
  std::vector<int> place_of_real_, place_of_codes_;    // by value: counterpart, or -1
  std::vector<std::optional<ir::Tensor>> references_;  // by counterpart, until it is compared
  std::vector<ir::Tensor> integer_inputs_;
};

/// Uses the first `samples` samples of the calibration data and at most `threads` threads (0: see
/// thread_count).
struct QualityRequest {
  int64_t samples = 0;
  int threads = 0;
  ProgressFunction progress{};
};
/// Calls body(sample, inputs, the engine pair of the thread) for each sample.
void for_each_pair(
    const ir::Graph& float_graph, const LoweredGraph& lowered, const Samples& samples,
    const QualityRequest& request,
    const std::function<void(size_t, const std::vector<ir::Tensor>&, SideBySide&)>& body);

}  // namespace thimble::quant
