#pragma once
// The integer part of a graph: what the formats of other tools are made from.
//
// The quantize operators behind float inputs and the dequantize operators before float outputs are
// taken off, so that the interface has codes. A state becomes one more input, which the caller
// feeds, and one more output, which holds what to feed next time: inputs and outputs of states
// follow the others, in the order of the states.

#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::interchange {

struct Core {
  ir::Graph graph;                         // no float, no state
  std::vector<ir::DimOrder> output_order;  // how the outputs lie, Layouts::at_border
  size_t states = 0;                       // how many inputs and outputs, the last ones, are states
};

/// What computes in float is refused, with the operator's place.
[[nodiscard]] Result<Core> integer_core(const ir::Graph& graph);

/// How often a gather takes each element along its dimension, one after the other, as upsampling to
/// the nearest does; 0 if it is no such gather, or its index no constant.
[[nodiscard]] int64_t repetitions(const ir::Graph& graph, const ir::Op& op);

/// An error about an operator: its name, and where the user wrote it.
[[nodiscard]] Error refusal(const ir::Op& op, std::string_view format, const std::string& reason);

}  // namespace thimble::interchange
