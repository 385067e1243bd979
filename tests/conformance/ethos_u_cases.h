#pragma once
// Regions for the NPU cut out of random integer graphs, and what becomes of them.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "engines/ethos_u/isa/config.h"

namespace thimble::test {

/// One operator, of sizes and numbers that the NPU's limits and blocks meet: channels beyond a
/// brick, large windows, sums as LiteRT scales them.
[[nodiscard]] ir::Graph shaped_operator(uint64_t seed);

/// Each operator by itself, and those that are `inside`: with inputs where others stood, and
/// operands and results in any memory order.
[[nodiscard]] std::vector<ir::Graph> single_operators(const ir::Graph& graph, uint64_t seed);
[[nodiscard]] ir::Graph region_of(const ir::Graph& graph, const std::vector<bool>& inside,
                                  uint64_t seed);

/// What the simulator gives against what the evaluator does.
struct Outcome {
  bool refused = false;
  std::string message;  // why it was refused, or what is wrong; empty: all bytes are equal
};
[[nodiscard]] Outcome run_region(const ir::Graph& region, const thimble::ethos_u::Config& config,
                                 uint64_t seed);

}  // namespace thimble::test
