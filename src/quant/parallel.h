#pragma once
// for_each_sample(count, threads, body): body(sample, thread) for every sample, each exactly once.
// Which thread takes which sample is open: a body must not depend on it.

#include <cstdint>
#include <functional>

#include "ir/graph.h"

namespace thimble::quant {

/// The threads that `count` samples are worth: `wanted`, or all of the machine's if it is 0. One if
/// the graph has state: its samples are a series in time, which one engine sees in order.
[[nodiscard]] int thread_count(int wanted, int64_t count, const ir::Graph& graph);

void for_each_sample(int64_t count, int threads, const std::function<void(int64_t, int)>& body);

}  // namespace thimble::quant
