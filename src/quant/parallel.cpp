#include "quant/parallel.h"

#include <algorithm>

#include "base/parallel.h"

namespace thimble::quant {

int thread_count(int wanted, int64_t count, const ir::Graph& graph) {
  if (!graph.states().empty()) return 1;
  // Each thread holds the activations of one sample; more than 8 threads would cost memory.
  constexpr int64_t kThreadsMax = 8;
  const int64_t threads = wanted > 0 ? wanted : std::min<int64_t>(machine_threads(), kThreadsMax);
  return static_cast<int>(std::max<int64_t>(1, std::min(threads, count)));
}

}  // namespace thimble::quant
