#pragma once
// Number of threads for a pass over samples.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::quant {

/// Returns the number of threads for `count` samples: at most `wanted`, or at most 8 hardware
/// threads if `wanted` is 0. Returns 1 if the graph has state, because its samples are a time
/// series that one engine must run in order.
[[nodiscard]] int thread_count(int wanted, int64_t count, const ir::Graph& graph);

}  // namespace thimble::quant
