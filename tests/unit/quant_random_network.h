#pragma once
// Random float networks that can be quantized, by seed: every float operator, forks and joins.

#include "ir/graph.h"
#include "ir_random_graph.h"
#include "quant/quantize.h"

namespace thimble::test {

[[nodiscard]] ir::Graph random_network(uint64_t seed, int op_count);

/// Normal-ish samples for every input of the graph.
[[nodiscard]] quant::CalibrationData random_calibration(const ir::Graph& graph, uint64_t seed,
                                                        int64_t samples);

}  // namespace thimble::test
