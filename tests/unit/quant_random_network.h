#pragma once
// Random float networks that can be quantized, by seed: every float operator, forks and joins.

#include <string>

#include "ir/graph.h"
#include "ir_random_graph.h"
#include "quant/quantize.h"

namespace thimble::test {

[[nodiscard]] ir::Graph random_network(uint64_t seed, int op_count);

/// Normal-ish samples for every input of the graph.
[[nodiscard]] quant::CalibrationData random_calibration(const ir::Graph& graph, uint64_t seed,
                                                        int64_t samples);

/// The operators in their order: "quantize qconv2d dequantize".
[[nodiscard]] std::string names_of(const ir::Graph& graph);
/// A graph from the statements of its text; empty, and a failure of the test, if they are wrong.
[[nodiscard]] ir::Graph parsed(const std::string& body);

}  // namespace thimble::test
