#pragma once
// The target-independent passes over a float graph, in execution order.
//
// Before: any verified graph. After: the same values up to float rounding. Batch norms are folded
// into weights or expressed as mul and add, constants are folded, no-op operators are removed.

#include <span>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> run_float_passes(const ir::Graph& graph);

struct Pass {
  std::string_view name;
  Result<ir::Graph> (*run)(const ir::Graph& graph);
  /// Removal reason for the report: "changes nothing", or "in the weights of" another operator.
  std::string_view removal_reason;
};
/// Returns the passes in execution order. A pass may occur twice.
[[nodiscard]] std::span<const Pass> float_passes();
/// Runs one pass and then removes unused operators.
[[nodiscard]] Result<ir::Graph> run_pass(const Pass& pass, const ir::Graph& graph);
}  // namespace thimble::passes
