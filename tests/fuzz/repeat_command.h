// SPDX-License-Identifier: Apache-2.0
#pragma once
// Prints the command that repeats a run that crashes or does not end.

#include <string>

namespace thimble::fuzz {

/// Stores the command that repeats what runs next.
void set_repeat_command(const std::string& command);
/// Returns the stored command.
[[nodiscard]] const char* repeat_command();

/// Prints the command after a fatal signal, a sanitizer's report, or the end of a timer.
void catch_signals();

/// Processor time of the process in seconds, because other processes share the machine.
[[nodiscard]] double seconds_used();

/// Starts timers that end the program after much more time than a run needs.
void start_timers();
void stop_timers();

}  // namespace thimble::fuzz
