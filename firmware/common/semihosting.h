// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access to the host's files and console by the semihosting breakpoint. Firmware under an emulator
// or a debugger reads models and writes results with it. There is no buffer on this side.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

enum class OpenMode : uint32_t { kRead = 1, kWrite = 5 };  // "rb", "wb"

/// An open host file; handle < 0 if it could not be opened.
struct HostFile {
  int32_t handle = -1;
};

HostFile host_open(const char* name, OpenMode mode);
/// Returns true if all bytes were transferred.
bool host_read(HostFile file, void* data, size_t bytes);
bool host_write(HostFile file, const void* data, size_t bytes);
/// Length in bytes; negative on failure.
int32_t host_length(HostFile file);
void host_close(HostFile file);

/// Reads the semihosting command line, with words separated by spaces. False if it does not fit.
bool host_command_line(char* text, size_t bytes);

void host_print(const char* text);

/// Ends the emulator with this exit code.
[[noreturn]] void host_exit(uint32_t exit_code);

}  // namespace thimble::firmware
