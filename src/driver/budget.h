#pragma once
// A budget of SRAM on the CPU: rows of images in strips (target/strips.h) until the arena fits. And
// without one, if the least memory is wanted: the smallest arena whose strips, and whose calls with
// less scratch where memory is fullest, cost no more than kMostWork says.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "emit/schedule.h"
#include "engine/engine.h"

namespace thimble::driver {

/// With target::Optimize::kSize: instructions, by those of the graph as it comes; an estimate.
inline constexpr double kMostWork = 1.1;

struct Budgeted {
  engine::Lowered lowered;
  int64_t bytes = 0;               // of the arena and what the runtime keeps beside it
  std::vector<std::string> notes;  // what was done for the budget, and what it costs
};

/// The graph as the CPU runs it: as it comes, or the smallest, if that needs no more than
/// `sram_bytes`, else with as many operators in strips as it takes; what needs least where nothing
/// fits.
[[nodiscard]] Result<Budgeted> lower_within(const ir::Graph& graph, const engine::Core& cpu,
                                            const engine::Options& options,
                                            std::optional<int64_t> sram_bytes);

/// A line for each of several budgets below what the graph needs as it comes: bytes, estimated
/// instructions, multiplications.
[[nodiscard]] Result<std::vector<std::string>> pareto_lines(const ir::Graph& graph,
                                                            const engine::Core& cpu,
                                                            const engine::Options& options);

}  // namespace thimble::driver
