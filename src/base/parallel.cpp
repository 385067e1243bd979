// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cancel.h"

namespace thimble {

namespace {

constexpr int kThreadsMax = 256;

}  // namespace

int machine_threads() {
  if (const char* text = std::getenv("THIMBLE_THREADS")) {
    const int wanted = std::atoi(text);
    if (wanted > 0) return std::min(wanted, kThreadsMax);
  }
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

void for_each_index(int64_t count, int threads, const std::function<void(int64_t, int)>& body) {
  std::atomic<int64_t> next = 0;
  const auto work = [&](int thread) {
    for (int64_t index = next++; index < count; index = next++) body(index, thread);
  };
  const Cancellation* const cancellation = current_cancellation();
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&](int thread) {
    try {
      const CancelScope scope(cancellation);
      work(thread);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(guarded, thread);
  } catch (const std::exception&) {
    // No memory or no number for a further thread: the existing ones do the work.
  }
  guarded(0);
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace thimble
