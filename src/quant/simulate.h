#pragma once
// The integer graph at the speed of matrix products: the integers of eval::evaluate, bit for bit.
//
// Products of (x - x_zp) and w are summed in float32 wherever every partial sum stays below 2^24,
// in double elsewhere: both are exact there, so the order of summation does not matter.
//
//   Engine engine(graph, integer_kernels());

#include <span>
#include <vector>

#include "base/result.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

[[nodiscard]] const KernelTable& integer_kernels();

/// One run. Inputs that do not have the graph's types are bad input.
[[nodiscard]] Result<std::vector<ir::Tensor>> simulate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs);

}  // namespace thimble::quant
