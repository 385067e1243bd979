#pragma once
// The host's files and console, reached by the semihosting breakpoint: how firmware under an
// emulator or a debugger reads a model and leaves its results. Nothing is buffered on this side.

#include <cstddef>
#include <cstdint>

namespace thimble::firmware {

enum class OpenMode : uint32_t { kRead = 1, kWrite = 5 };  // "rb", "wb"

/// An open host file; handle < 0 if it could not be opened.
struct HostFile {
  int32_t handle = -1;
};

HostFile host_open(const char* name, OpenMode mode);
/// False unless all bytes were transferred.
bool host_read(HostFile file, void* data, size_t bytes);
bool host_write(HostFile file, const void* data, size_t bytes);
/// < 0 on failure.
int32_t host_length(HostFile file);
void host_close(HostFile file);

/// The words of the semihosting command line, separated by spaces; false if they do not fit.
bool host_command_line(char* text, size_t bytes);

void host_print(const char* text);

/// Ends the emulator with this exit code.
[[noreturn]] void host_exit(uint32_t exit_code);

}  // namespace thimble::firmware
