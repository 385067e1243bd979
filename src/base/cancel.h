// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cancels work that runs in a thread of its own.
//
//   Cancellation cancellation;                       // of the thread that waits
//   std::thread([&] { const CancelScope scope(cancellation); ... }).join();
//   cancellation.cancel();                           // at any time, from any thread
//
// Long loops call THIMBLE_CHECK(check_cancelled()). for_each_index() (parallel.h) passes the scope
// to its threads, and run_process() (process.h) ends its child. Without a scope nothing is
// cancelled.

#include <atomic>

#include "base/result.h"

namespace thimble {

class Cancellation {
 public:
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> cancelled_ = false;
};

/// Applies a cancellation to the calling thread until the end of the scope.
class CancelScope {
 public:
  /// `cancellation` may be null.
  explicit CancelScope(const Cancellation* cancellation);
  explicit CancelScope(const Cancellation& cancellation) : CancelScope(&cancellation) {}
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope();

 private:
  const Cancellation* outer_;
};

/// Returns the cancellation of the calling thread; null: none.
[[nodiscard]] const Cancellation* current_cancellation();
[[nodiscard]] bool is_cancelled();
/// Returns an error of the kind kCancelled if the calling thread's work is cancelled.
[[nodiscard]] Status check_cancelled();

}  // namespace thimble
