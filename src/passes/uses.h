#pragma once
// Who reads a value: the question before every fusion.

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

  /// Of the graph, or what a state becomes.
  [[nodiscard]] bool is_output(ir::ValueId id) const { return outputs_[static_cast<size_t>(id)]; }
  /// The operator that made it; null for inputs, states and constants.
  [[nodiscard]] const ir::Op* producer(ir::ValueId id) const {
    const int index = producers_[static_cast<size_t>(id)];
    return index < 0 ? nullptr : &graph_.ops()[static_cast<size_t>(index)];
  }
  /// Indices of operators that read it.
  [[nodiscard]] const std::vector<int>& readers(ir::ValueId id) const {
    return consumers_[static_cast<size_t>(id)];
  }
  /// The one operator that reads it, once, if nothing else does and it is no output; else null.
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
