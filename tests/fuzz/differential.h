// SPDX-License-Identifier: Apache-2.0
#pragma once
// One graph on every path: the reference evaluator, the production runtime with the engines of a
// part (kernels, simulators and models of NPUs), the printed text, and the C output. All must
// give the same bytes.

#include <cstdint>
#include <functional>
#include <string>

#include "engine/part.h"
#include "ir/graph.h"

namespace thimble::fuzz {

struct Comparison {
  bool ran = false;        // false: the part does not support the graph
  std::string difference;  // empty: all results are equal
};

/// `seed`: of the inputs. `c_output`: also compiles the graph as C with the machine's compiler
/// (CC, or cc), and runs it in this process; parts with NPUs have no C output.
[[nodiscard]] Comparison compare_paths(const ir::Graph& graph, const engine::Part& part,
                                       uint64_t seed, bool c_output);

/// Returns a smaller graph for which `fails` is true: without outputs, states and operators that it
/// does not need, and with smaller extents.
/// `fails(graph)` must be true. It is called at most `calls_max` times.
[[nodiscard]] ir::Graph shrink(ir::Graph graph, const std::function<bool(const ir::Graph&)>& fails,
                               int calls_max = 300);

}  // namespace thimble::fuzz
