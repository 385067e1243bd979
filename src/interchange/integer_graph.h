// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs from which files in other tools' formats are written.
//
// Each state becomes an additional input and an additional output. The application copies that
// output to that input before the next run. Inputs and outputs of states follow the others, in the
// order of the states.

#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

struct StatelessGraph {
  ir::Graph graph;                         // no state
  std::vector<ir::DimOrder> output_order;  // dimension order of each output, Layouts::io_order
  size_t states = 0;                       // the last `states` inputs and outputs are states
};

/// Returns the integer part of a graph: the quantize operators after float inputs and the
/// dequantize operators before float outputs are removed, so inputs and outputs are quantized
/// values. Returns an error with the operator's source location if an operator computes in float.
[[nodiscard]] Result<StatelessGraph> extract_integer_graph(const ir::Graph& graph);

/// Returns the graph with all its operators.
[[nodiscard]] Result<StatelessGraph> without_states(const ir::Graph& graph);

/// Returns how many times a gather repeats each element along its dimension, consecutively, as
/// nearest-neighbor upsampling does. Returns 0 for other gathers and for a non-constant index.
[[nodiscard]] int64_t repetitions(const ir::Graph& graph, const ir::Op& op);

/// Returns an error about an operator: its name and its source location.
[[nodiscard]] Error refusal(const ir::Op& op, std::string_view format, const std::string& reason);

}  // namespace thimble::interchange
