// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subgraphs for the Ethos-U, cut out of random integer graphs, and the comparison of their results.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/isa/config.h"
#include "ir/graph.h"

namespace thimble::test {

/// Returns one operator with sizes and parameters near the NPU's limits: more channels than a
/// brick, large windows, sums scaled as in LiteRT.
[[nodiscard]] ir::Graph operator_near_limits(uint64_t seed);

/// Returns each operator of `graph` as a graph of its own; subgraph_of() returns those that are
/// `inside` as one graph. Values from outside become inputs. Inputs and outputs get random memory
/// orders.
[[nodiscard]] std::vector<ir::Graph> single_operators(const ir::Graph& graph, uint64_t seed);
[[nodiscard]] ir::Graph subgraph_of(const ir::Graph& graph, const std::vector<bool>& inside,
                                    uint64_t seed);

/// Comparison of the simulator's bytes with the reference evaluator's.
struct Outcome {
  bool refused = false;
  std::string message;  // reason of the refusal, or the difference; empty if all bytes are equal
};
[[nodiscard]] Outcome run_subgraph(const ir::Graph& region, const thimble::ethos_u::Config& config,
                                   uint64_t seed,
                                   const engine::ethos_u::ScheduleOptions& options = {});

}  // namespace thimble::test
