// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs work in a thread without the GIL, so that other Python threads run, the progress is reported
// and Ctrl-C ends the call within a second.

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/cancel.h"
#include "base/progress.h"
#include "base/result.h"
#include "python/bindings/errors.h"

namespace thimble::python {

/// State that the calling thread and the thread of the work share. It owns no Python object.
struct JobState {
  std::mutex mutex;
  std::condition_variable changed;
  Cancellation cancellation;
  bool is_done = false;
  bool has_news = false;  // of the progress
  std::string phase;
  int64_t done = 0, all = 0;
  std::exception_ptr exception;  // bad_alloc
};

/// Waits for the end of the work. Calls `progress`, a function or None, with (phase, done, all).
/// Throws what the function or a signal handler raises; then the work is cancelled, and left to end
/// in its own thread if it does not end soon. Takes the thread over.
void wait_for(const std::shared_ptr<JobState>& job, std::thread worker, nanobind::handle progress);

/// Waits for all work that was left. At the end of the interpreter.
void wait_for_abandoned_work();
/// In the child of a fork, which has none of the threads.
void forget_abandoned_work();

/// Calls work(progress) and returns its value. Throws a Python exception for an error. The function
/// must own its data and no Python object.
template <typename T>
T run_job(std::function<Result<T>(const ProgressFunction&)> work, nanobind::handle progress) {
  struct Job : JobState {
    std::optional<Result<T>> result;
  };
  const auto job = std::make_shared<Job>();
  std::thread worker([job, work = std::move(work)]() mutable {
    const CancelScope scope(job->cancellation);
    const ProgressFunction report = [&](std::string_view phase, int64_t done, int64_t all) {
      const std::lock_guard lock(job->mutex);
      job->phase = phase;
      job->done = done;
      job->all = all;
      job->has_news = true;
      job->changed.notify_one();
    };
    std::optional<Result<T>> result;
    std::exception_ptr exception;
    try {
      result.emplace(work(report));
      work = nullptr;  // releases its data before the caller continues
    } catch (...) {
      exception = std::current_exception();
    }
    const std::lock_guard lock(job->mutex);
    job->result = std::move(result);
    job->exception = exception;
    job->is_done = true;
    job->changed.notify_one();
  });
  wait_for(job, std::move(worker), progress);
  if (job->exception) std::rethrow_exception(job->exception);
  Result<T>& result = *job->result;
  if (!result) raise(result.error());
  return std::move(*result);
}

}  // namespace thimble::python
