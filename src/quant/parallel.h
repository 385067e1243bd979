#pragma once
// How many threads a pass over samples takes.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::quant {

/// The threads that `count` samples are worth: `wanted`, or all of the machine's if it is 0. One if
/// the graph has state: its samples are a series in time, which one engine sees in order.
[[nodiscard]] int thread_count(int wanted, int64_t count, const ir::Graph& graph);

}  // namespace thimble::quant
