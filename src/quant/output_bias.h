// SPDX-License-Identifier: Apache-2.0
#pragma once
// Corrects the bias of the last convolutions and linear layers by the mean error of their results,
// measured with the integer graph.
//
// Roundings and clipped elements of a whole network add up to an error that is not zero on average.
// In the last layer with weights it is a constant per channel, which the bias removes without cost.
// Only layers from which no other weights and no state are reached are corrected: a correction of
// an earlier layer would change the measured means of the later ones.

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "quant/calibrate.h"
#include "quant/lower.h"

namespace thimble::quant {

struct OutputBiasRequest {
  const ir::Graph& graph;
  const Plan& plan;
  const LoweredGraph& lowered;
  const Samples& samples;
  int64_t first_sample = 0, last_sample = 0;  // samples [first_sample, last_sample) are measured
  int threads = 0;
};
/// Returns the mean error by output channel, by result of the operator (Decisions::bias_error).
[[nodiscard]] std::map<ir::ValueId, std::vector<double>> output_bias_errors(
    const OutputBiasRequest& request);

}  // namespace thimble::quant
