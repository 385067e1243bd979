// SPDX-License-Identifier: Apache-2.0
#pragma once
// Random float networks by seed that can be quantized: every float operator, forks and joins.

#include <string>

#include "ir/graph.h"
#include "ir_random_graph.h"
#include "quant/quantize.h"

namespace thimble::test {

[[nodiscard]] ir::Graph random_network(uint64_t seed, int op_count);

/// Returns samples for every input of the graph, distributed roughly normally.
[[nodiscard]] quant::CalibrationData random_calibration(const ir::Graph& graph, uint64_t seed,
                                                        int64_t samples);

/// Returns the names of the operators in order: "quantize qconv2d dequantize".
[[nodiscard]] std::string names_of(const ir::Graph& graph);
/// Parses the statements of a graph. An error fails the test and returns an empty graph.
[[nodiscard]] ir::Graph parsed(const std::string& body);

}  // namespace thimble::test
