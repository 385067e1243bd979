// SPDX-License-Identifier: Apache-2.0
#pragma once
// The reference evaluator: runs a graph with slow, simple loops that follow docs/numerics.md.
//
// All kernels, simulators and firmware images are compared with it, so it shares no arithmetic with
// them: eval/arithmetic.h has its own fixed-point formulas. Values are indexed logically; dim_order
// has no effect. Float operators read and write float32 and accumulate in double.

#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace thimble::eval {

/// Called with every operator and its result, in execution order.
using OnResult = std::function<void(const ir::Op& op, const ir::Tensor& result)>;

/// Content of the states of a graph between runs: one tensor per state, in order.
using StateTensors = std::vector<ir::Tensor>;
[[nodiscard]] StateTensors initial_state(const ir::Graph& graph);

/// Returns an error if the number of tensors, or the element type or shape of one, differs from the
/// graph's inputs.
[[nodiscard]] Status check_inputs(const ir::Graph& graph, std::span<const ir::Tensor> inputs);

/// Runs a verified graph on one tensor per graph input, in order. Returns one tensor per graph
/// output. Returns an error if an input has the wrong element type or shape. Each value is freed
/// after its last use. The states have their initial content.
[[nodiscard]] Result<std::vector<ir::Tensor>> evaluate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs,
                                                       const OnResult& on_result = {});
/// Same, but the states begin with the content of `state`, which receives their content after the
/// run.
[[nodiscard]] Result<std::vector<ir::Tensor>> evaluate(const ir::Graph& graph,
                                                       std::span<const ir::Tensor> inputs,
                                                       StateTensors& state,
                                                       const OnResult& on_result = {});

}  // namespace thimble::eval
