#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "base/cancel.h"

namespace thimble {

int machine_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void for_each_index(int64_t count, int threads, const std::function<void(int64_t, int)>& body) {
  std::atomic<int64_t> next = 0;
  const auto work = [&](int thread) {
    for (int64_t index = next++; index < count; index = next++) body(index, thread);
  };
  const Cancellation* const cancellation = current_cancellation();
  const auto work_in_scope = [&](int thread) {
    const CancelScope scope(cancellation);
    work(thread);
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work_in_scope, thread);
  work(0);
  for (std::thread& other : others) other.join();
}

}  // namespace thimble
