// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/repeat_command.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>
#include <vector>

#include <sys/time.h>
#include <unistd.h>

// Function of the sanitizers' runtime; null in a program without one.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace thimble::fuzz {
namespace {

constexpr unsigned kProcessorSecondsMax = 10;
constexpr unsigned kElapsedSecondsMax = 300;  // other processes may need the machine meanwhile

char command[1024];  // a signal handler must not allocate

void print_command() {
  constexpr std::string_view kText = "\ncrash, or a run without an end; repeat: ";
  [[maybe_unused]] auto written = write(2, kText.data(), kText.size());
  written = write(2, command, std::strlen(command));
  written = write(2, "\n", 1);
}

[[noreturn]] void report_signal(int) {
  print_command();
  _exit(1);
}

void set_timers(unsigned processor_seconds, unsigned elapsed_seconds) {
  itimerval timer = {};
  timer.it_value.tv_sec = processor_seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
  alarm(elapsed_seconds);
}

}  // namespace

void set_repeat_command(const std::string& text) {
  const size_t length = std::min(text.size(), sizeof command - 1);
  std::copy_n(text.begin(), length, command);
  command[length] = '\0';
}

const char* repeat_command() {
  return command;
}

/// The handlers have a stack of their own, because a deep input may exhaust the stack. A sanitizer
/// reports crashes itself.
void catch_signals() {
  std::vector<int> signals = {SIGABRT, SIGALRM, SIGPROF};
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(print_command);
  } else {
    signals.insert(signals.end(), {SIGSEGV, SIGFPE, SIGILL, SIGBUS});
  }
  static char stack[1 << 16];
  stack_t other = {};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = report_signal;
  action.sa_flags = SA_ONSTACK;
  for (const int each : signals) sigaction(each, &action, nullptr);
}

double seconds_used() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void start_timers() {
  set_timers(kProcessorSecondsMax, kElapsedSecondsMax);
}

void stop_timers() {
  set_timers(0, 0);
}

}  // namespace thimble::fuzz
