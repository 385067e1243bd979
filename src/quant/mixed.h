#pragma once
// The few operators that need 16-bit activations so that a goal is reached.
//
// Each operator's worth is the SQNR that the outputs gain when it alone has 16 bits. Operators are
// promoted in the order of their worth, as few as will do; then those that turn out not to matter
// go back. Deterministic.

#include <functional>
#include <vector>

#include "base/result.h"
#include "quant/calibrate.h"
#include "quant/lower.h"

namespace thimble::quant {

/// One choice of widths, carried through.
struct Variant {
  Plan plan;
  Decisions decisions;
  LoweredGraph lowered;
};
/// By operator: 16 bits.
using Attempt = std::function<Result<Variant>(const std::vector<bool>&)>;

struct GoalRequest {
  const ir::Graph& graph;
  const Samples& samples;
  const AccuracyGoal& goal;
  int threads;
  const Attempt& attempt;
};

/// Adds operators to `wide_ops`, which `trial` was made with, until the goal is reached. Not
/// supported: it is out of reach with all of them, with what they reach.
[[nodiscard]] Result<GoalReport> reach_goal(const GoalRequest& request, std::vector<bool>& wide_ops,
                                            Variant& trial);

}  // namespace thimble::quant
