// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a program and waits for it, with a time limit. The implementation is platform_posix.cpp or
// platform_win32.cpp. This header and library.h wrap all operating system calls of src/.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace thimble::base {

struct ProcessOptions {
  std::filesystem::path folder;  // working directory; empty: inherited
  std::chrono::seconds time_limit{60};
};

struct ProcessResult {
  int exit_code = 0;       // 128 + signal number if a signal ended the program
  bool timed_out = false;  // the program and its children were killed at the time limit
  std::string output;      // standard output and standard error, interleaved as written
};

/// Runs `command[0]`, which is searched for in PATH. Standard input is empty. Returns an error if
/// the program cannot be started. The program and its children are killed if the calling thread's
/// work is cancelled (cancel.h).
[[nodiscard]] Result<ProcessResult> run_process(const std::vector<std::string>& command,
                                                const ProcessOptions& options);

/// Makes this process end when its parent process ends. Only Linux supports this; elsewhere the
/// time limit of run_process ends the program.
void end_with_parent();

}  // namespace thimble::base
