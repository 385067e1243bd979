// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rejects subgraphs that the vendor's converter would turn into an empty graph.

#include <string>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// Returns the reason why the subgraph has no effect; empty if it has one. Does not
/// compare costs: decline_reason() does.
[[nodiscard]] std::string no_effect_reason(const ir::Graph& subgraph);

}  // namespace thimble::engine::neutron
