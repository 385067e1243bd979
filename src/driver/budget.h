#pragma once
// An SRAM budget on the CPU: applies row tiling (target/strips.h) until the arena fits. Without a
// budget, but with optimization for size: finds the smallest arena. Row tiling, and calls with less
// scratch, may then increase the number of instructions up to kMostWork.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "emit/schedule.h"
#include "target/target.h"

namespace thimble::driver {

/// Upper bound of instructions with target::Optimize::kSize, relative to the untiled graph.
inline constexpr double kMostWork = 1.1;

struct Budgeted {
  target::Lowered lowered;
  int64_t bytes = 0;               // the arena and the runtime state
  std::vector<std::string> notes;  // measures taken to meet the budget, with their cost
};

/// Lowers the graph for the CPU: untiled, or with Optimize::kSize as small as possible. If this
/// needs more than `sram_bytes`, applies row tiling until it fits. If nothing fits, returns the
/// variant that needs the least memory.
[[nodiscard]] Result<Budgeted> lower_within(const ir::Graph& graph, const target::Target& cpu,
                                            const target::Options& options,
                                            std::optional<int64_t> sram_bytes);

/// Returns one line for each of several budgets below the need of the untiled graph: bytes,
/// estimated instructions, MACs.
[[nodiscard]] Result<std::vector<std::string>> pareto_lines(const ir::Graph& graph,
                                                            const target::Target& cpu,
                                                            const target::Options& options);

}  // namespace thimble::driver
