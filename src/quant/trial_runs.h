// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs integer graphs that differ in a few operators from a base graph, without computing again
// what both have in common.
//
// The base graph runs step by step, once for each sample. A trial that begins after some of its
// steps reads their results, as far as they are still in memory, and computes the rest. What a
// trial computes, and so its outputs, are the same at any step; at the first operator that differs
// it has the least to compute.

#include <cstdint>
#include <memory>
#include <vector>

#include "quant/quality.h"

namespace thimble::quant {

/// Returns, by value of `graph`, the value of `base` that is computed from equal inputs by equal
/// operators; kNoValue if there is none. Both graphs have the same inputs and no states.
[[nodiscard]] std::vector<ir::ValueId> equal_values(const ir::Graph& graph, const ir::Graph& base);

class TrialRuns {
 public:
  /// Uses samples [first, last). `base` and `samples` must outlive the object.
  TrialRuns(const ir::Graph& base, const Samples& samples, int64_t first, int64_t last,
            int threads);

  /// Runs the base graph up to this operator. `op` does not decrease between calls.
  void advance_to(size_t op);
  /// Returns the outputs of a trial as real numbers, by output and sample.
  [[nodiscard]] RealOutputs outputs(const ir::Graph& trial) const;

 private:
  const ir::Graph& base_;
  const int threads_;
  std::vector<std::vector<ir::Tensor>> float_inputs_, inputs_;  // by sample
  std::vector<std::unique_ptr<FastExecutor>> engines_;          // by sample
};

}  // namespace thimble::quant
