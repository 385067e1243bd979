// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimate of a subgraph's cost on the core. Engines compare it with the cost of a delegate call.

#include "ir/graph.h"

namespace thimble::engine {

/// Returns the approximate number of cycles that the core needs for the subgraph. The costs per
/// call, output element and MAC are constants, counted under QEMU on larger networks.
[[nodiscard]] double core_cycles(const ir::Graph& subgraph);

}  // namespace thimble::engine
