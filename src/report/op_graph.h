// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graph that a report shows: a node per row of CompileReport::ops, and a node per input, output
// and state of the model. An edge is a value; operators without a row (views) are part of an edge.

#include <cstddef>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "ir/type.h"

namespace thimble::report {

struct GraphNode {
  enum class Kind : uint8_t { kInput, kOutput, kState, kNextState, kOp };
  Kind kind = Kind::kOp;
  size_t row = 0;      // for kOp: index into CompileReport::ops
  std::string title;   // "conv2d"; "input", "output", "state", "next state"
  std::string window;  // "3x3/2" for an operator with a window, else empty
  std::string name;    // node of the export, or name of the value
  ir::DType dtype{};
  ir::Shape shape;  // of the result
};

/// Indices of nodes.
struct GraphEdge {
  size_t from = 0, to = 0;
  auto operator<=>(const GraphEdge&) const = default;
};

struct OpGraph {
  std::vector<GraphNode> nodes;  // inputs and states, then rows in their order, then outputs
  std::vector<GraphEdge> edges;  // sorted, each once
};

[[nodiscard]] OpGraph op_graph(const driver::Compiled& compiled);

}  // namespace thimble::report
