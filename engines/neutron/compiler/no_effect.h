#pragma once
// Rejects subgraphs that the vendor's converter would turn into an empty graph.

#include <string>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// Returns true if the result has the operand's quantized values in the same order: a clamp without
/// effect, a mean over one element, an upsampling by 1.
[[nodiscard]] bool has_no_effect(const ir::Graph& graph, const ir::Op& op);

/// Returns the reason why the subgraph has no effect; empty if it has one. Does not check cycles.
[[nodiscard]] std::string no_effect_reason(const ir::Graph& region);

}  // namespace thimble::engine::neutron
