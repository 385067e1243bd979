// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimates how much an output loses if a linear has one weight scale, from one run of the float
// graph beside the integer graph with a scale per channel.
//
// Measured, by value: the signal S and the quantization noise N, as sums of squares. For each
// linear: the additional noise D of its result with one scale, from the difference of its rounded
// and real weights, on some rows of its operand.
//
// The factor G from noise at a value to the relative increase of the noise of an output follows
// from the outputs back to the inputs. At an output, G = 1/N. Data movement and sums pass noise
// unchanged; other operators keep the ratio of noise to signal, so their factor is S(result) /
// S(operand). Before the next quantization, noise cannot matter more than the noise that is there
// already, so G is at most 1/N of its own value. A linear loses 10 log10(1 + D G) dB.

#include <map>
#include <set>
#include <vector>

#include "quant/quality.h"

namespace thimble::quant {

class NoiseEstimate {
 public:
  /// A float graph and its integer form in which each linear has a scale per channel.
  struct Network {
    const ir::Graph& graph;
    const Plan& plan;
    const Decisions& decisions;
    const LoweredGraph& per_channel;
  };

  /// `linears`: operator indices of the float graph, in groups.
  [[nodiscard]] static Result<NoiseEstimate> measure(const Network& network,
                                                     const std::vector<std::set<size_t>>& linears,
                                                     const Samples& samples,
                                                     const QualityRequest& request);

  /// Returns the estimated SQNR loss of an output if only these linears have one weight scale.
  [[nodiscard]] double loss_db(const std::set<size_t>& linears) const;

 private:
  std::map<size_t, double> increase_;  // by operator index: D G
};

}  // namespace thimble::quant
