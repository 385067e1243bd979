#pragma once
// Selects the few operators that need 16-bit activations to reach an accuracy goal.
//
// The gain of an operator is the SQNR that the outputs gain when it alone has 16 bits. Operators
// are promoted by decreasing gain until the goal is reached. Operators that turn out to be
// unnecessary are demoted again. The result is deterministic.

#include <functional>
#include <vector>

#include "base/result.h"
#include "quant/calibrate.h"
#include "quant/lower.h"

namespace thimble::quant {

/// The lowered graph for one choice of widths.
struct Variant {
  Plan plan;
  Decisions decisions;
  LoweredGraph lowered;
};
/// Lowers the graph. The argument is true for each operator that has 16 bits.
using Attempt = std::function<Result<Variant>(const std::vector<bool>&)>;

struct GoalRequest {
  const ir::Graph& graph;
  const Samples& samples;
  const AccuracyGoal& goal;
  int threads;
  const Attempt& attempt;
};

/// Adds operators to `wide_ops` until the goal is reached. `trial` belongs to `wide_ops` before and
/// after. Returns a not-supported error with the best value if all operators together do not reach
/// the goal.
[[nodiscard]] Result<GoalReport> reach_goal(const GoalRequest& request, std::vector<bool>& wide_ops,
                                            Variant& trial);

}  // namespace thimble::quant
