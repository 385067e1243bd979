#pragma once
// What may not be a region of its own: the converter would make an empty graph of it.

#include <string>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// The operator's result has its operand's codes, in the same order: a clamp that cuts nothing
/// off, a mean over one element, an upsampling by one.
[[nodiscard]] bool changes_nothing(const ir::Graph& graph, const ir::Op& op);

/// Why the region is no region by itself; empty: it is one. Cycles are judged elsewhere.
[[nodiscard]] std::string context_declines(const ir::Graph& region);

}  // namespace thimble::engine::neutron
