// SPDX-License-Identifier: Apache-2.0
// Operation numbers and argument blocks: Arm, "Semihosting for AArch32 and AArch64".

#include "firmware/common/semihosting.h"

#include <cstring>

namespace thimble::firmware {
namespace {

enum class Operation : uintptr_t {
  kOpen = 0x01,
  kClose = 0x02,
  kWrite0 = 0x04,
  kWrite = 0x05,
  kRead = 0x06,
  kLength = 0x0C,
  kCommandLine = 0x15,
  kExitExtended = 0x20,
};

constexpr uintptr_t kApplicationExit = 0x20026;

intptr_t call(Operation operation, const void* argument) {
  register uintptr_t r0 __asm__("r0") = static_cast<uintptr_t>(operation);
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory", "cc");
  return static_cast<intptr_t>(r0);
}

}  // namespace

HostFile host_open(const char* name, OpenMode mode) {
  const uintptr_t block[] = {reinterpret_cast<uintptr_t>(name), static_cast<uintptr_t>(mode),
                             std::strlen(name)};
  return {static_cast<int32_t>(call(Operation::kOpen, block))};
}

bool host_read(HostFile file, void* data, size_t bytes) {
  const uintptr_t block[] = {static_cast<uintptr_t>(file.handle), reinterpret_cast<uintptr_t>(data),
                             bytes};
  return call(Operation::kRead, block) == 0;  // the result is the number of bytes not read
}

bool host_write(HostFile file, const void* data, size_t bytes) {
  const uintptr_t block[] = {static_cast<uintptr_t>(file.handle), reinterpret_cast<uintptr_t>(data),
                             bytes};
  return call(Operation::kWrite, block) == 0;
}

int32_t host_length(HostFile file) {
  const uintptr_t block[] = {static_cast<uintptr_t>(file.handle)};
  return static_cast<int32_t>(call(Operation::kLength, block));
}

void host_close(HostFile file) {
  const uintptr_t block[] = {static_cast<uintptr_t>(file.handle)};
  call(Operation::kClose, block);
}

bool host_command_line(char* text, size_t bytes) {
  uintptr_t block[] = {reinterpret_cast<uintptr_t>(text), bytes};
  return call(Operation::kCommandLine, block) == 0;
}

void host_print(const char* text) {
  call(Operation::kWrite0, text);
}

[[noreturn]] void host_exit(uint32_t exit_code) {
  const uintptr_t block[] = {kApplicationExit, exit_code};
  for (;;) call(Operation::kExitExtended, block);
}

}  // namespace thimble::firmware
