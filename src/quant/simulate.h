// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the integer graph with fast matrix products. Results equal those of eval::evaluate bit for
// bit.
//
// Products of (x - x_zp) and w are summed in float32 if every partial sum is below 2^24, otherwise
// in double. Both are exact, so the order of summation does not matter.
//
//   Engine engine(graph, integer_kernels());

#include <span>
#include <vector>

#include "base/result.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

[[nodiscard]] const KernelTable& integer_kernels();

/// Runs the graph once. Returns a bad-input error if an input does not have the graph's input type.
[[nodiscard]] Result<std::vector<ir::Tensor>> simulate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs);

}  // namespace thimble::quant
