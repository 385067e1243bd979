// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cuts the integer graph into subgraphs, each for one engine; the rest stays on the CPU.
//
// Each operator is offered to the engines in the part's order; the first engine that can run it
// gets it. The level of an operator is the largest number of engine changes on any path to it. The
// operators of one engine and one level form a subgraph. This makes subgraphs convex: a path that
// leaves a subgraph can only return at a higher level, so a subgraph never waits for its own
// result. Connected operators move to a later level of their engine if all their readers allow it.
//
// A subgraph that only moves data, or does less work than its dispatch costs, is returned to the
// CPU, unless it is the whole integer graph. Each operator that is not on the part's first engine
// has a reason. Test: tests/unit/partition_test.cpp.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/engine.h"
#include "ir/graph.h"

namespace thimble::partition {

struct Subgraph {
  const engine::PartNpu* engine = nullptr;
  ir::Graph graph;       // inputs and outputs as its `delegate` operators list them
  std::vector<int> ops;  // of the whole graph; `graph` may say them in the engine's own arithmetic
  /// Inputs that are states of the whole graph, with the output that each becomes.
  std::vector<std::pair<size_t, size_t>> states;
};

struct Partition {
  ir::Graph graph;  // with one `delegate` operator per result of a subgraph
  std::vector<Subgraph> subgraphs;
  std::vector<int> subgraph_of;      // subgraph of each operator of the whole graph; -1: CPU
  std::vector<std::string> reasons;  // reason per operator; empty: on the first engine
  /// CPU operators that are not in the whole graph: name of the result, and the reason.
  std::vector<std::pair<std::string, std::string>> added;
};

struct Choices {
  std::vector<std::string> keep_off;  // per operator: why no engine may run it; or empty
  bool keep_small = false;            // unprofitable subgraphs stay on their engine
  /// Subgraphs with fewer steps are returned to the CPU, unless they must stay on the engine.
  std::optional<int64_t> minimum_steps = std::nullopt;
};
[[nodiscard]] Result<Partition> partition(const ir::Graph& graph,
                                          std::span<const engine::PartNpu> engines,
                                          const Choices& choices = {});

/// Returns the whole graph, with each `delegate` of `graph` replaced by the operators of its
/// subgraph. The reference evaluator can run it.
[[nodiscard]] Result<ir::Graph> inline_subgraphs(const ir::Graph& graph,
                                                 std::span<const Subgraph> subgraphs);

}  // namespace thimble::partition
