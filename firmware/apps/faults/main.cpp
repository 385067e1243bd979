// SPDX-License-Identifier: Apache-2.0
// Provokes each kind of failure of a device, to test what the firmware prints and that the emulator
// ends with a non-zero exit code. The semihosting command line is `faults WHAT [MODEL.pte]`. The
// model calls only test::copy.out, which this program defines.

#include <cstring>

#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/text.h"
#include "firmware/common/uart.h"
#include "kernels/kernels.h"
#include "runtime/exec/executor.h"
#include "runtime/include/thimble.h"

extern "C" uint8_t big_start[];

namespace {

using namespace thimble::firmware;
using thimble::kernels::Call;
using thimble::kernels::Kernel;
using thimble::kernels::KernelTable;
using thimble::kernels::Status;

Status check_copy(const Call& call) {
  return call.args[0].tensor.bytes == call.args[1].tensor.bytes ? Status::kOk : Status::kBadShape;
}
void run_copy(const Call& call) {
  const auto& from = call.args[0].tensor;
  std::memcpy(call.args[1].tensor.data, from.data, from.bytes);
}
const Kernel copy_kernel = {"test::copy.out", "To", 0, check_copy, run_copy};
const Kernel* const copy_rows[] = {&copy_kernel};
const KernelTable copy_table = {.kernels = copy_rows,
                                .count = 1,
                                .flatbuffer_executor = &thimble::runtime::flatbuffer_executor};
const KernelTable native_table = {.kernels = copy_rows, .count = 1};
const KernelTable empty_table = {
    .kernels = nullptr, .count = 0, .flatbuffer_executor = &thimble::runtime::flatbuffer_executor};

// Must fit in `big` of the smallest board.
constexpr size_t kFileBytesMax = 4096, kMemoryBytes = 512;
uint8_t* const file = big_start;
uint8_t* const memory = big_start + kFileBytesMax;
size_t file_bytes;
thimble_model model;

const thimble_kernels* opaque(const KernelTable& table) {
  return reinterpret_cast<const thimble_kernels*>(&table);
}

int finish(thimble_status status) {
  char buffer[128];
  Text text(buffer, sizeof buffer);
  text << "status " << static_cast<uint32_t>(status) << " " << thimble_status_text(status) << "\n";
  host_print(text.text());
  return static_cast<int>(status == 0 ? kExitOk : kExitStatus);
}

thimble_status init(const KernelTable& table, size_t memory_bytes) {
  return thimble_init(&model, file, file_bytes, opaque(table), memory, memory_bytes);
}

int fine() {
  thimble_status status = init(copy_table, kMemoryBytes);
  for (uint32_t i = 0; i < thimble_input_count(&model) && status == 0; ++i) {
    thimble_view view;
    status = thimble_input(&model, i, &view);
    if (status == 0) status = thimble_set_input(&model, i, memory, view.bytes);
  }
  return finish(status == 0 ? thimble_run(&model) : status);
}

int missing_kernel() {
  return finish(init(empty_table, kMemoryBytes));
}

int small_arena() {
  thimble_needs needs;
  const thimble_status status = thimble_size(file, file_bytes, opaque(copy_table), &needs);
  if (status != 0) return finish(status);
  return finish(init(copy_table, needs.arena_bytes + needs.state_bytes - 1));
}

int bad_argument() {
  const thimble_status status = init(copy_table, kMemoryBytes);
  thimble_view view;
  return finish(status == 0 ? thimble_input(&model, 1000, &view) : status);
}

int misaligned() {
  return finish(
      thimble_init(&model, file + 4, file_bytes - 4, opaque(copy_table), memory, kMemoryBytes));
}

int no_executor() {
  return finish(init(native_table, kMemoryBytes));
}

int missing_method() {
  constexpr size_t kArenaBytes = kMemoryBytes / 2;
  return finish(thimble_init_method(&model, file, file_bytes, opaque(copy_table), "other", memory,
                                    kArenaBytes, memory + kArenaBytes, kMemoryBytes - kArenaBytes));
}

int bad_file() {
  file[file_bytes / 8] ^= 0x55;
  std::memset(file + 64, 0xFF, 64);
  return finish(init(copy_table, kMemoryBytes));
}

int not_a_program() {
  file[4] ^= 1;
  return finish(init(copy_table, kMemoryBytes));
}

int truncated() {
  file_bytes -= 1;
  return finish(init(copy_table, kMemoryBytes));
}

int input_not_set() {
  const thimble_status status = init(copy_table, kMemoryBytes);
  return finish(status == 0 ? thimble_run(&model) : status);
}

int not_initialized() {
  return finish(thimble_run(&model));
}

int hard_fault() {
  // No board has memory or a device at this address.
  *reinterpret_cast<volatile uint32_t*>(0xE8000000) = 1;
  return finish(0);
}

int undefined_instruction() {
  __asm__ volatile("udf #0");
  return finish(0);
}

volatile uint32_t depth_wanted = 1000000;

[[gnu::noinline]] uint32_t sink(uint32_t depth) {
  volatile uint32_t local[16];
  local[depth % 16] = depth;
  return depth < depth_wanted ? sink(depth + 1) + local[depth % 16] : 0;
}

int stack_overflow() {
  return finish(sink(0) == 1 ? 0 : 0);
}

int uart() {
  uart_print("printed without semihosting\n");
  return finish(0);
}

struct Case {
  const char* name;
  bool reads_model;
  int (*run)();
};
const Case kCases[] = {
    {"bad-argument", true, bad_argument},
    {"bad-file", true, bad_file},
    {"fine", true, fine},
    {"hard-fault", false, hard_fault},
    {"input-not-set", true, input_not_set},
    {"misaligned", true, misaligned},
    {"missing-kernel", true, missing_kernel},
    {"missing-method", true, missing_method},
    {"no-executor", true, no_executor},
    {"not-a-program", true, not_a_program},
    {"not-initialized", false, not_initialized},
    {"small-arena", true, small_arena},
    {"stack-overflow", false, stack_overflow},
    {"truncated", true, truncated},
    {"uart", false, uart},
    {"undefined-instruction", false, undefined_instruction},
};

bool read_file(const char* name) {
  const HostFile host = host_open(name, OpenMode::kRead);
  if (host.handle < 0) return false;
  const int32_t length = host_length(host);
  if (length < 0 || static_cast<size_t>(length) > kFileBytesMax) return false;
  file_bytes = static_cast<size_t>(length);
  return host_read(host, file, file_bytes);
}

}  // namespace

int main() {
  char line[512];
  if (!host_command_line(line, sizeof line)) return kExitUsage;
  char* what = std::strchr(line, ' ');
  if (what == nullptr) return kExitUsage;
  *what++ = 0;
  char* name = std::strchr(what, ' ');
  if (name != nullptr) *name++ = 0;
  for (const Case& row : kCases) {
    if (std::strcmp(row.name, what) != 0) continue;
    if (row.reads_model && (name == nullptr || !read_file(name))) break;
    return row.run();
  }
  host_print("usage: faults WHAT [MODEL.pte]\n");
  return kExitUsage;
}
