// SPDX-License-Identifier: Apache-2.0
#pragma once
// The target-independent passes, in execution order.
//
// Float passes. Before: any verified graph. After: the same values up to float rounding. Batch
// norms are folded into weights or expressed as mul and add, constants are folded, no-op operators
// are removed. Integer passes run on the quantized graph. After: the same bits at every output.

#include <span>
#include <string>
#include <string_view>
#include <vector>

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
[[nodiscard]] std::span<const Pass> integer_passes();
/// Returns a pass of either list; null for an unknown name.
[[nodiscard]] const Pass* find_pass(std::string_view name);
/// Returns each name once: float passes, then integer passes.
[[nodiscard]] std::vector<std::string> pass_names();
/// Runs one pass and then removes unused operators.
[[nodiscard]] Result<ir::Graph> run_pass(const Pass& pass, const ir::Graph& graph);
}  // namespace thimble::passes
