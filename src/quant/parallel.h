// SPDX-License-Identifier: Apache-2.0
#pragma once
// Passes over samples with several threads.

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/progress.h"
#include "ir/graph.h"

namespace thimble::quant {

/// Returns the number of threads for `count` samples: at most `wanted`, or at most 8 hardware
/// threads if `wanted` is 0. Returns 1 if the graph has state, because its samples are a time
/// series that one engine must run in order.
[[nodiscard]] int thread_count(int wanted, int64_t count, const ir::Graph& graph);

/// for_each_index() of base/parallel.h that reports the number of finished samples as `phase`.
void for_each_sample(int64_t count, int threads, const ProgressFunction& progress,
                     std::string_view phase, const std::function<void(int64_t, int)>& body);

}  // namespace thimble::quant
