#pragma once
// Runs another program, with a limit on its time. platform_posix.cpp and platform_win32.cpp are the
// only places under src/ that call the operating system.

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "base/result.h"

namespace thimble::base {

struct ProcessOptions {
  std::filesystem::path folder;  // where it runs; empty: here
  std::chrono::milliseconds time_limit{60000};
};

struct ProcessResult {
  bool timed_out = false;  // killed, with all processes that it had started, at the time limit
  int exit_code = 0;       // 128 + the signal if one ended it
  std::string output;      // standard output and error, as they came
};

/// `command[0]` is looked up in PATH; standard input is empty. An error only if it cannot be started.
[[nodiscard]] Result<ProcessResult> run_process(std::span<const std::string> command,
                                                const ProcessOptions& options);

}  // namespace thimble::base
