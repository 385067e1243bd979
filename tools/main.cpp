// SPDX-License-Identifier: Apache-2.0
// thimble: compile, run, compare and inspect models for microcontrollers. One file per verb.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifndef _WIN32
#include <poll.h>
#include <unistd.h>
#endif

#include "tools/commands.h"
#include "tools/output.h"
#include "tools/signals.h"

namespace {

constexpr char kOutOfMemory[] = "thimble: out of memory\n";

std::atomic<bool> was_out_of_memory = false;

/// Memory can run out where no exception may leave: the destructor of nlohmann::json allocates.
[[noreturn]] void report_terminate() {
  const bool is_exception = std::current_exception() != nullptr || std::uncaught_exceptions() != 0;
  if (!is_exception || !was_out_of_memory) std::abort();
  thimble::tools::OutputFiles::remove_temporary_of_all();
  std::fputs(kOutOfMemory, stderr);
  std::_Exit(2);
}

/// Returns true if the reader of standard output has ended, as in `thimble targets | head -1`.
bool is_closed_pipe() {
#ifdef _WIN32
  return false;
#else
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
#endif
}

/// Returns the exit code: 2 if the text on standard output is not complete.
int checked_output(int exit_code) {
  const bool is_complete = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (is_complete || is_closed_pipe()) return exit_code;
  std::fputs("thimble: standard output: not all text could be written; is the disk full?\n",
             stderr);
  return 2;
}

/// Runs the verb of the command line. Returns its exit code.
int run(int argc, char** argv) {
  thimble::tools::CommandLine line(
      "Compiles PyTorch models for Cortex-M, and runs the compiled models.", "thimble");
  int exit_code = 0;
  thimble::tools::add_compile(line, &exit_code);
  thimble::tools::add_export_sources(line, &exit_code);
  thimble::tools::add_run(line, &exit_code);
  thimble::tools::add_compare(line, &exit_code);
  thimble::tools::add_diff(line, &exit_code);
  thimble::tools::add_inspect(line, &exit_code);
  thimble::tools::add_fit(line, &exit_code);
  thimble::tools::add_opt(line, &exit_code);
  thimble::tools::add_targets(line, &exit_code);
  thimble::tools::add_boards(line, &exit_code);
  thimble::tools::add_annotate(line, &exit_code);
  line.parse(argc, argv, &exit_code);
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Large blocks are returned to the system when they are freed. By default, glibc raises this
  // limit to 32 MiB, and memory of samples and activations stays with the process.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  std::set_terminate(report_terminate);
  std::set_new_handler([] {
    was_out_of_memory = true;
    throw std::bad_alloc();
  });
  int exit_code = 2;
  const thimble::tools::SignalScope signals;
  try {
    exit_code = run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(kOutOfMemory, stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "thimble: %s\n", error.what());
  }
  return checked_output(exit_code);
}
