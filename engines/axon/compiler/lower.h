// SPDX-License-Identifier: Apache-2.0
#pragma once
// lower(): turns a legalized subgraph (legalize.h) into NPU layers. The memory order is [C][H][W]
// with W innermost, the same as a contiguous NCHW tensor, so no transpose is needed.
//
// Rows that layers write begin at multiples of 4 bytes. Flattening before a linear layer costs
// nothing, because the weights have that order already. A concat along the outermost axis needs no
// copy: its pieces are written to their final position. A split along it reads them in place.

#include <span>

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// Index of a subgraph input that holds a state, and index of the output that is its next value.
struct StatePair {
  size_t input = 0, output = 0;
};

/// Returns layers without addresses; place() assigns them. Returns an unsupported error if a layer
/// exceeds a limit of the NPU, with the operator and the limit.
[[nodiscard]] Result<Network> lower(const ir::Graph& subgraph,
                                    std::span<const StatePair> states = {});

}  // namespace thimble::engine::axon
