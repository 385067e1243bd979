// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/job.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <memory>
#include <system_error>

namespace nb = nanobind;

namespace thimble::python {
namespace {

/// Time for work to end after its cancellation, before it is left alone.
constexpr std::chrono::milliseconds kPatience{600};
constexpr std::chrono::milliseconds kSignalInterval{50};

/// Number of threads that were left alone. They end by themselves; the process must not end before.
std::atomic<int>& abandoned() {
  static std::atomic<int> count = 0;
  return count;
}

/// Waits until the work is done or the time is over. Returns true if it is done. With `news`, also
/// returns for news of the progress.
bool wait(JobState& job, std::chrono::milliseconds time, bool news) {
  const nb::gil_scoped_release release;
  std::unique_lock lock(job.mutex);
  job.changed.wait_for(lock, time, [&] { return job.is_done || (news && job.has_news); });
  return job.is_done;
}

void report(JobState& job, nb::handle progress) {
  std::string phase;
  int64_t done = 0, all = 0;
  {
    const std::lock_guard lock(job.mutex);
    if (!job.has_news) return;
    job.has_news = false;
    phase = job.phase;
    done = job.done;
    all = job.all;
  }
  progress(phase, done, all);
}

/// Ends the thread after an exception in the caller.
void cancel(const std::shared_ptr<JobState>& job, std::thread worker) {
  job->cancellation.cancel();
  if (wait(*job, kPatience, false)) {
    const nb::gil_scoped_release release;
    worker.join();
    return;
  }
  ++abandoned();
  const auto shared = std::make_shared<std::thread>(std::move(worker));
  const auto finish = [job, shared] {
    shared->join();
    --abandoned();
  };
  try {
    std::thread(finish).detach();
  } catch (const std::system_error&) {  // the process has too many threads
    const nb::gil_scoped_release release;
    finish();
  }
}

}  // namespace

void wait_for(const std::shared_ptr<JobState>& job, std::thread worker, nb::handle progress) {
  const bool reports = !progress.is_none();
  try {
    while (!wait(*job, kSignalInterval, reports)) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (reports) report(*job, progress);
    }
    if (reports) report(*job, progress);
  } catch (...) {
    cancel(job, std::move(worker));
    throw;
  }
  const nb::gil_scoped_release release;
  worker.join();
}

void wait_for_abandoned_work() {
  const nb::gil_scoped_release release;
  while (abandoned() > 0) std::this_thread::sleep_for(kSignalInterval);
}

void forget_abandoned_work() {
  abandoned() = 0;
}

}  // namespace thimble::python
