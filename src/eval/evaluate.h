#pragma once
// The reference evaluator: runs a graph with slow, obvious loops straight from docs/numerics.md.
//
// It is the judge of every kernel, simulator and firmware, so it shares no arithmetic with them:
// its fixed-point formulas are its own (eval/arithmetic.h). Values are indexed logically;
// dim_order has no influence. Float operators read and write float32 and add up in double.

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace thimble::eval {

/// Called with every operator and its result, in execution order.
using OnResult = std::function<void(const ir::Op& op, const ir::Tensor& result)>;

/// What a graph keeps between runs: one tensor per state, in order.
using StateTensors = std::vector<ir::Tensor>;
[[nodiscard]] StateTensors initial_state(const ir::Graph& graph);

/// One tensor per graph input in order; gives one per graph output. The graph must be verified.
/// An input of another element type or shape is an error. Values are freed after their last use.
/// The graph's states begin with their initial content.
[[nodiscard]] Result<std::vector<ir::Tensor>> evaluate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs,
                                                       const OnResult& on_result = {});
/// The states begin as `state` says, which then holds what they have become.
[[nodiscard]] Result<std::vector<ir::Tensor>> evaluate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs,
                                                       StateTensors& state,
                                                       const OnResult& on_result = {});

}  // namespace thimble::eval
