// SPDX-License-Identifier: Apache-2.0
#pragma once
// Exposes ranges that lowering needs but that no value of the graph has.

#include "ir/graph.h"

namespace thimble::quant {

/// Adds the missing lstm operator for each lstm, so that both its output and its cell state exist
/// as values. The integer operator needs the ranges of both. The added operator has no reader.
[[nodiscard]] Result<ir::Graph> expose_hidden_ranges(const ir::Graph& graph);

/// Returns the index of the operator that produces the other result of this lstm. Requires a graph
/// returned by expose_hidden_ranges.
[[nodiscard]] size_t other_lstm_result(const ir::Graph& graph, const ir::Op& lstm);

}  // namespace thimble::quant
