// SPDX-License-Identifier: Apache-2.0
#include "quant/parallel.h"

#include <algorithm>
#include <atomic>

#include "base/parallel.h"

namespace thimble::quant {

int thread_count(int wanted, int64_t count, const ir::Graph& graph) {
  if (!graph.states().empty()) return 1;
  // Each thread holds the activations of one sample; more than 8 threads would cost memory.
  constexpr int64_t kThreadsMax = 8;
  const int64_t threads = wanted > 0 ? wanted : std::min<int64_t>(machine_threads(), kThreadsMax);
  return static_cast<int>(std::max<int64_t>(1, std::min(threads, count)));
}

void for_each_sample(int64_t count, int threads, const ProgressFunction& progress,
                     std::string_view phase, const std::function<void(int64_t, int)>& body) {
  std::atomic<int64_t> done = 0;
  report_progress(progress, phase, 0, count);
  for_each_index(count, threads, [&](int64_t index, int thread) {
    body(index, thread);
    const int64_t finished = ++done;
    if (thread == 0) report_progress(progress, phase, finished, count);
  });
}

}  // namespace thimble::quant
