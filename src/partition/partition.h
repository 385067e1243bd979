#pragma once
// The integer graph cut into regions, each for one engine, and what stays on the CPU.
//
// Every operator asks the engines in the part's order; the first that can run it gets it. An
// operator's level counts how often the road to it changes engine; the operators of one engine and
// one level are a region. Regions are convex by that: a road that leaves one comes back at a higher
// level at the earliest, so running a region in one piece never waits for itself. Operators that
// hang together and whose readers all have a later level of their engine take that one.
//
// A region that only moves data, or does less than its dispatch costs, goes back to the CPU, unless
// it is all there is. Each operator that is not on the part's first engine has a reason. Tested by
// tests/unit/partition_test.cpp.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "engine/engine.h"

namespace thimble::partition {

struct Region {
  const engine::PartNpu* engine = nullptr;
  ir::Graph graph;       // inputs and outputs as its `delegate` operators list them
  std::vector<int> ops;  // of the whole graph; `graph` may say them in the engine's own arithmetic
  /// Inputs that are states of the whole graph, with the output that each becomes.
  std::vector<std::pair<size_t, size_t>> states;
};

struct Partition {
  ir::Graph graph;  // with a `delegate` operator per result of a region
  std::vector<Region> regions;
  std::vector<int> region_of;        // by operator of the whole graph; -1: the CPU's
  std::vector<std::string> reasons;  // likewise; empty: on the first engine
  /// Operators of the CPU that the whole graph has not, by the value they make, with the reason.
  std::vector<std::pair<std::string, std::string>> added;
};

struct Choices {
  std::vector<std::string> keep_off;  // by operator, if not empty: why no engine may have it
  bool keep_small = false;            // regions that do not pay stay on their engine
  /// Regions that do less are the CPU's, if they may go.
  std::optional<int64_t> minimum_steps = std::nullopt;
};
[[nodiscard]] Result<Partition> partition(const ir::Graph& graph,
                                          std::span<const engine::PartNpu> engines,
                                          const Choices& choices = {});

/// The whole graph again, with each `delegate` of `graph` in the words of its region: what the
/// evaluator can judge.
[[nodiscard]] Result<ir::Graph> joined(const ir::Graph& graph, std::span<const Region> regions);

}  // namespace thimble::partition
