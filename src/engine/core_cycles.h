#pragma once
// What a region would cost on the core, for engines that judge whether a call of theirs pays.

#include "ir/graph.h"

namespace thimble::engine {

/// Cycles that the core's kernels need for the region, about: a flat rule, counted under QEMU for
/// larger networks.
[[nodiscard]] double core_cycles(const ir::Graph& region);

}  // namespace thimble::engine
