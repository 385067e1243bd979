// SPDX-License-Identifier: Apache-2.0
#pragma once
// Producers and readers of each value.

#include <vector>

#include "ir/graph.h"

namespace thimble::passes {

class Uses {
 public:
  explicit Uses(const ir::Graph& graph)
      : graph_(graph), producers_(graph.producers()), consumers_(graph.consumers()) {
    outputs_.resize(graph.value_count(), false);
    for (const ir::ValueId id : graph.results()) outputs_[static_cast<size_t>(id)] = true;
  }

  /// Returns true for outputs of the graph and for values that become the next content of a state.
  [[nodiscard]] bool is_output(ir::ValueId id) const { return outputs_[static_cast<size_t>(id)]; }
  /// Returns the operator that produces the value; null for inputs, states and constants.
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const {
    const int index = producers_[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &graph_.ops()[static_cast<size_t>(index)];
  }
  /// Returns the indices of the operators that read the value.
  [[nodiscard]] const std::vector<int>& readers(ir::ValueId id) const {
    return consumers_[static_cast<size_t>(id)];
  }
  /// Returns the operator that reads the value if it is the only use of the value; else null.
  [[nodiscard]] const ir::Op* only_reader(ir::ValueId id) const {
    const auto& all = readers(id);
    if (all.size() != 1 || is_output(id)) return nullptr;
    return &graph_.ops()[static_cast<size_t>(all[0])];
  }

 private:
  const ir::Graph& graph_;
  std::vector<int> producers_;
  std::vector<std::vector<int>> consumers_;
  std::vector<bool> outputs_;
};

}  // namespace thimble::passes
