// SPDX-License-Identifier: Apache-2.0
#include "tools/signals.h"

#include <csignal>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace thimble::tools {
namespace {

Cancellation cancellation;

#ifndef _WIN32
constexpr unsigned kSecondsMax = 2;  // for work that is cancelled

volatile std::sig_atomic_t received = 0;

void end_by_signal(int) {
  std::signal(received, SIG_DFL);
  std::raise(received);
}

/// The second signal, also if it is another one, ends the command at once.
void cancel(int signal) {
  if (received != 0) end_by_signal(signal);
  received = signal;
  cancellation.cancel();  // a lock-free atomic
  alarm(kSecondsMax);
}

void handle(int signal, void (*handler)(int), int flags) {
  struct sigaction old = {};
  sigaction(signal, nullptr, &old);
  if (old.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}
#endif

}  // namespace

SignalScope::SignalScope() : cancel_(cancellation) {
#ifndef _WIN32
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // a parent may ignore it; then the exit code of a child is lost
  handle(SIGALRM, end_by_signal, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    handle(signal, cancel, SA_RESTART | static_cast<int>(SA_RESETHAND));
  }
#endif
}

SignalScope::~SignalScope() {
#ifndef _WIN32
  if (received != 0) end_by_signal(SIGALRM);
#endif
}

}  // namespace thimble::tools
