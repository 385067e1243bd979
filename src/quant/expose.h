#pragma once
// Operators that lowering needs to know the range of, although no value of the graph shows it.

#include "ir/graph.h"

namespace thimble::quant {

/// The graph with both faces of each lstm, its output and its cell state: the integer operator
/// needs the ranges of both, whichever the network reads. The added one has no reader.
[[nodiscard]] Result<ir::Graph> expose_hidden_ranges(const ir::Graph& graph);

/// Index of the operator that is the other face of this lstm. The graph went through
/// expose_hidden_ranges.
[[nodiscard]] size_t other_face(const ir::Graph& graph, const ir::Op& lstm);

}  // namespace thimble::quant
