#pragma once
// lower(): a region in the NPU's arithmetic (form.h) as layers, in the memory order that it has:
// [C][H][W] with W innermost, which is a contiguous NCHW tensor, so nothing is transposed.
//
// Rows that layers write begin at multiples of 4. Flattening before a linear layer costs nothing,
// the weights being in that order already; a concat along the outermost axis is where its pieces
// are written, a split where they are read.

#include <span>

#include "base/result.h"
#include "engines/axon/compiler/network.h"

namespace thimble::engine::axon {

/// An input of the region that holds a state, and the output that it becomes.
struct StatePair {
  size_t input = 0, output = 0;
};

/// Not supported: a layer beyond the NPU's limits, with the operator and the limit. Without
/// addresses; place.h gives those.
[[nodiscard]] Result<Network> lower(const ir::Graph& region,
                                    std::span<const StatePair> states = {});

}  // namespace thimble::engine::axon
