// SPDX-License-Identifier: Apache-2.0
#pragma once
// An SRAM budget on the CPU: applies row tiling (memory/row_tiling.h) until the arena fits. Without
// a budget, but with optimization for size: finds the smallest arena. Row tiling, and calls with
// less scratch, may then increase the number of instructions up to kInstructionRatioMax.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"

namespace thimble::memory {

/// Upper bound of instructions with engine::Optimize::kSize, relative to the untiled graph.
inline constexpr double kInstructionRatioMax = 1.1;

struct BudgetedLowering {
  engine::Lowered lowered;
  int64_t bytes = 0;               // arena and the runtime's own data
  int64_t effort = 0;              // of all variants: the sum of their squared operator counts
  std::vector<std::string> notes;  // what was done for the budget, and what it costs
};

/// Lowers the graph for the CPU. With Optimize::kSize, reduces the arena first. If the result needs
/// more than `sram_bytes`, tiles operators until it fits. If nothing fits, returns the lowering
/// with the smallest arena.
[[nodiscard]] Result<BudgetedLowering> lower_within_budget(const ir::Graph& graph,
                                                           const engine::Core& cpu,
                                                           const engine::Options& options,
                                                           std::optional<int64_t> sram_bytes);

/// Returns one line for each of several budgets below the need of the untiled graph: bytes,
/// estimated instructions, MACs.
[[nodiscard]] Result<std::vector<std::string>> pareto_lines(const ir::Graph& graph,
                                                            const engine::Core& cpu,
                                                            const engine::Options& options);

}  // namespace thimble::memory
