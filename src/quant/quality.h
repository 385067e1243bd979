// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measures the error of the integer graph against the float graph.

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "quant/side_by_side.h"

namespace thimble::quant {

struct Quality {
  /// SQNR by counterpart: signal = sum (reference - its mean over samples and elements)^2.
  std::vector<double> op_db;
  /// SQNR by graph output: signal = sum (reference - its mean over samples)^2, noise = sum
  /// (reference - got)^2, over all samples and elements. Infinite without an error, NaN if the
  /// reference is constant; the same in op_db.
  std::vector<double> output_db;
  /// By graph output: share of equal elements, for an output of integers in the float graph, such
  /// as the result of argmax. An SQNR says nothing about indices.
  std::vector<std::optional<double>> output_agreement;
};

/// Returns the elements of a tensor as real numbers.
[[nodiscard]] std::vector<double> real_values(const ir::Tensor& tensor, const ir::Type& type);

/// Outputs as real numbers, by output and sample.
using RealOutputs = std::vector<std::vector<std::vector<double>>>;
[[nodiscard]] RealOutputs float_outputs(const ir::Graph& graph, const Samples& samples,
                                        const QualityRequest& request);
[[nodiscard]] RealOutputs integer_outputs(const ir::Graph& graph, const Samples& samples,
                                          const QualityRequest& request);
/// Runs the integer graph on these samples, in this order. `take` receives the outputs of each
/// sample, from several threads. After it returned false, no further sample begins.
void for_each_integer_output(
    const ir::Graph& graph, const Samples& samples, std::span<const int64_t> order,
    const QualityRequest& request,
    const std::function<bool(size_t sample, std::vector<std::vector<double>> outputs)>& take);
/// Returns the sum of (reference - its mean over samples)^2 of one output; 0 if it is constant.
[[nodiscard]] double output_signal(const std::vector<std::vector<double>>& reference);
/// Returns the SQNR of one output over all samples: signal = sum (reference - its mean over
/// samples)^2. Infinite without an error, NaN if the reference is constant.
[[nodiscard]] double output_decibels(const std::vector<std::vector<double>>& reference,
                                     const std::vector<std::vector<double>>& got);

[[nodiscard]] Quality measure_quality(const ir::Graph& float_graph, const LoweredGraph& lowered,
                                      const Samples& samples, const QualityRequest& request);

}  // namespace thimble::quant
