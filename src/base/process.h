#pragma once
// Runs a program and waits for it, with a limit on its time. With platform_posix.cpp or
// platform_win32.cpp behind it, these are the only operating system calls in src/.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace thimble::base {

struct ProcessOptions {
  std::filesystem::path folder;  // working directory; empty: the caller's
  std::chrono::seconds time_limit{60};
};

struct ProcessResult {
  int exit_code = 0;       // 128 + signal if a signal ended it
  bool timed_out = false;  // it and its children were killed at the limit
  std::string output;      // standard output and error, as they came
};

/// `command[0]` is looked up in PATH. Standard input is empty. An error if the program cannot be
/// started.
[[nodiscard]] Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                                const ProcessOptions& options);

/// From now on this program ends when the one that started it does. Only Linux can do that;
/// elsewhere the time limit of run_process has to.
void end_with_parent();

}  // namespace thimble::base
