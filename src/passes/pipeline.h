#pragma once
// The target-independent passes over a float graph, in the order they run.
//
// Before: any checked graph. After: the same values (up to float rounding), with batch norms folded
// into weights or written as mul and add, constants folded, nothing that only renames.

#include <span>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> run_float_passes(const ir::Graph& graph);

struct Pass {
  std::string_view name;
  Result<ir::Graph> (*run)(const ir::Graph& graph);
  /// Where an operator is when it is gone: "changes nothing", or "in the weights of" another one.
  std::string_view gone;
};
/// In the order they run; a pass may occur twice.
[[nodiscard]] std::span<const Pass> float_passes();
/// One pass, then what it left unused is removed.
[[nodiscard]] Result<ir::Graph> run_pass(const Pass& pass, const ir::Graph& graph);
}  // namespace thimble::passes
