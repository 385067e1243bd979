// SPDX-License-Identifier: Apache-2.0
// Progress: the line is drawn by a thread of its own, so that it appears and counts while the work
// reports nothing.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "tools/output.h"

#ifdef _WIN32
#include <io.h>
#else
#include <unistd.h>
#endif

namespace thimble::tools {
namespace {

using Clock = std::chrono::steady_clock;

#ifdef _WIN32
bool stderr_is_terminal() {
  return _isatty(2) != 0;
}
#else
bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}
#endif

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60;
  if (seconds < kMinute) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / kMinute);
}

}  // namespace

struct Progress::Line {
  explicit Line(std::string_view text) : what(text), thread([this] { draw_until_stopped(); }) {}
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_one();
    thread.join();
    if (drawn) std::fputs("\r\x1b[K", stderr);
  }

  void set(std::string_view next, int64_t next_done, int64_t next_all) {
    const std::lock_guard lock(mutex);
    if (next != phase) phase_start = Clock::now();
    phase = next;
    done = next_done;
    all = next_all;
  }

  /// "compiling resnet8.pt2: calibrating 34 %, 5 s left"
  std::string text() const {
    std::string line = phase.empty() ? what : fmt::format("{}: {}", what, phase);
    if (all == 0) return line + fmt::format(", {}", duration_text(seconds_since(start)));
    constexpr double kPercent = 100;
    const double share = static_cast<double>(done) / static_cast<double>(all);
    line += fmt::format(" {:.0f} %", kPercent * share);
    if (done == 0) return line;
    const double left = seconds_since(phase_start) * (1 - share) / share;
    return line + fmt::format(", {} left", duration_text(left));
  }

  void draw_until_stopped() {
    constexpr auto kPatience = std::chrono::seconds(1);
    constexpr auto kInterval = std::chrono::milliseconds(200);
    std::unique_lock lock(mutex);
    auto next = start + kPatience;
    while (!changed.wait_until(lock, next, [this] { return stopped; })) {
      std::fprintf(stderr, "\r\x1b[K%s", text().c_str());
      std::fflush(stderr);
      drawn = true;
      next = Clock::now() + kInterval;
    }
  }

  std::string what;
  std::string phase;
  int64_t done = 0, all = 0;
  Clock::time_point start = Clock::now(), phase_start = start;
  bool stopped = false, drawn = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;  // last: it uses the other members
};

Progress::Progress(std::string_view what, ProgressFunction other)
    : line_(!other && stderr_is_terminal() ? std::make_unique<Line>(what) : nullptr),
      other_(std::move(other)) {}

Progress::~Progress() = default;

void Progress::show(std::string_view phase, int64_t done, int64_t all) {
  report_progress(other_, phase, done, all);
  if (line_ != nullptr) line_->set(phase, done, all);
}

ProgressFunction Progress::function() {
  if (line_ == nullptr) return other_;
  return [this](std::string_view phase, int64_t done, int64_t all) { show(phase, done, all); };
}

}  // namespace thimble::tools
