// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects the few operators that need 16-bit activations to reach an accuracy goal.
//
// The loss of an operator is the SQNR that the outputs lose when it alone has 8 bits and all others
// have 16. Operators are promoted by decreasing loss until the goal is reached. Then the promoted
// operators with the smallest losses are demoted one by one where the goal does not need them; the
// number of these trials is limited. The result is deterministic.
//
// If 8 bits do not reach the goal, the weights are rounded together first, which costs no cycles.
//
// Trials take most of the time. The ranking computes only the operators after the changed one
// (trial_runs.h). Other trials begin with the samples that lose most, and end when the goal cannot
// be reached any more.

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

/// Rounds the weights together (adaptive_rounding.h). Returns false if the nearest codes are
/// kept.
using Round = std::function<Result<bool>(Variant&)>;

struct GoalRequest {
  const ir::Graph& graph;
  const Samples& samples;
  const AccuracyGoal& goal;
  int threads;
  const Attempt& attempt;
  const Round& round;
};

/// Adds operators to `wide_ops` until the goal is reached, and rounds the weights unless that loses
/// the goal. `trial` belongs to `wide_ops` before and after. Returns a not-supported error with the
/// best value if all operators together do not reach the goal, also with rounded weights.
[[nodiscard]] Result<GoalReport> reach_goal(const GoalRequest& request, std::vector<bool>& wide_ops,
                                            Variant& trial);

}  // namespace thimble::quant
