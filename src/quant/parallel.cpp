#include "quant/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace thimble::quant {

int thread_count(int wanted, int64_t count, const ir::Graph& graph) {
  if (!graph.states().empty()) return 1;
  // Every thread holds the activations of one sample: more than a few cost memory, not time.
  constexpr int64_t kThreadsMax = 8;
  int64_t threads = wanted > 0 ? wanted : std::max(1U, std::thread::hardware_concurrency());
  if (wanted == 0) threads = std::min(threads, kThreadsMax);
  return static_cast<int>(std::max<int64_t>(1, std::min(threads, count)));
}

void for_each_sample(int64_t count, int threads, const std::function<void(int64_t, int)>& body) {
  std::atomic<int64_t> next = 0;
  const auto work = [&](int thread) {
    for (int64_t sample = next++; sample < count; sample = next++) body(sample, thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace thimble::quant
