#pragma once
// Regions for the NPU cut out of random integer graphs, and what becomes of them.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "npu/ethos_u/isa/config.h"

namespace thimble::test {

/// One region, and how its seed is named.
struct RegionCase {
  ir::Graph graph;
  std::string source;  // "int8", "int16", "moved", "shaped"
  uint64_t seed = 0;
  size_t op = 0;  // of the random graph; of whole regions that of their first operator
};

/// The operators of these kinds that `keep` accepts, with inputs where others stood: operands and
/// results in any memory order. Nothing if none is left.
[[nodiscard]] std::vector<ir::Graph> single_operators(const ir::Graph& graph, uint64_t seed);
[[nodiscard]] ir::Graph region_of(const ir::Graph& graph, const std::vector<bool>& inside,
                                  uint64_t seed);

/// "" if the simulator gives what the evaluator does, else what is different.
struct Outcome {
  bool refused = false;
  std::string message;  // why it was refused, or what is wrong
};
[[nodiscard]] Outcome run_region(const ir::Graph& region, const thimble::ethos_u::Config& config,
                                 uint64_t seed);

}  // namespace thimble::test
