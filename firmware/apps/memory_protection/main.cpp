// SPDX-License-Identifier: Apache-2.0
// Loads and runs mutations of a model with the memory protection unit enabled. While the
// runtime works, only the stack, the model object and the memory that was passed to
// thimble_init can be written; only these, the code, the constants, the file and the inputs can be
// read. Every other access is a fault, which the fault handler reports (exit code 3).
//
//   memory_protection MODEL.pte FIRST_SEED COUNT RESULTS
//       COUNT mutations, each made from its seed
//   memory_protection MODEL.pte ACCESS 0 RESULTS
//       the unchanged model, then one access that must be a fault: a name of kAccesses
//   memory_protection MODEL.pte input-fault|stack-fault 0 RESULTS
//       a run that ends in a fault because it cannot read its inputs, or because its stack is too
//       small. The program continues: RESULTS gets a Recovery
//
// RESULTS gets two bytes for each mutation: how far it came (Stage), and the status. After a fault,
// its length tells which mutation it was. Memory ends at the end of a region for odd seeds, and
// begins at the start of one for even seeds, so that both ends are exact.

#include <cstring>

#include "firmware/apps/memory_protection/mpu.h"
#include "firmware/apps/memory_protection/recovery.h"
#include "firmware/apps/memory_protection/stage.h"
#include "firmware/common/command_line.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/mutate_word.h"
#include "firmware/common/random.h"
#include "firmware/common/rounding.h"
#include "firmware/common/semihosting.h"
#include "runtime/include/thimble.h"

extern "C" uint8_t big_start[];
extern "C" uint8_t stack_bottom[], stack_top[], data_start[], bss_end[];

namespace {

using namespace thimble::firmware;
using thimble::fuzz::mutate_word;

// Zones in the board's largest RAM, each at a multiple of its size.
constexpr size_t kZone = size_t{1} << 20;
constexpr size_t kInputMax = size_t{64} << 10;
constexpr size_t kMemoryMax = size_t{128} << 10;  // an application has a fixed arena
constexpr size_t kFileMax = size_t{64} << 10;
uint8_t* const original = big_start;
uint8_t* const file_zone = big_start + kZone;
uint8_t* const input_zone = big_start + 2 * kZone;  // zeros
uint8_t* const memory_zone = big_start + 3 * kZone;

// The only static object that the runtime writes: alone in its region.
constexpr size_t kModelRegion = 256;
union Model {
  thimble_model model;
  uint8_t bytes[kModelRegion];
};
alignas(kModelRegion) Model storage;

char command_line[512];
constexpr uint32_t kWords = 5;
size_t file_bytes;
uint32_t unrelated;  // a variable of the application

uint32_t word_at(const uint8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Changes one value, in the tables or in what follows the segment base: records, state, constants.
void change(uint8_t* file, Random& random) {
  constexpr size_t kSegmentBase = 24;  // of the extended header
  constexpr size_t kRecordBytes = 1024;
  const size_t base = word_at(file + kSegmentBase) < file_bytes ? word_at(file + kSegmentBase) : 0;
  const size_t begin = random.below(4) != 0 ? base : 0;
  const size_t area =
      begin != 0 && file_bytes - begin > kRecordBytes ? kRecordBytes : file_bytes - begin;
  const size_t size = size_t{1} << random.below(3);
  if (area < 8) return;
  uint8_t* const at = file + begin + size * random.below(area / size);
  uint32_t value = 0;
  std::memcpy(&value, at, size);
  value = random.below(4) == 0 ? word_at(file + 4 * random.below(file_bytes / 4))
                               : mutate_word(value, 8 * size, random);
  std::memcpy(at, &value, size);
}

void mutate(uint8_t* file, uint32_t seed) {
  constexpr size_t kFrame = 8;  // root and identifier
  Random random(seed);
  for (size_t left = 1 + random.below(3); left > 0; --left) change(file, random);
  if (random.below(16) != 0) std::memcpy(file, original, kFrame);
}

/// The accessible memory: the ends of the file and of `memory` are at steps of the unit.
struct Protection {
  uint8_t* file;
  uint8_t* memory = memory_zone;
  size_t memory_bytes = 0;
  size_t guard_bytes = 0;  // at the end of the stack; not accessible
  const uint8_t* inputs = input_zone;

  void enable() const {
    const auto address = [](const void* at) { return reinterpret_cast<uintptr_t>(at); };
    const uintptr_t model = address(&storage);
    const size_t file_step = mpu_step(file_bytes), memory_step = mpu_step(memory_bytes);
    const uintptr_t file_begin = address(file) / file_step * file_step;
    const uintptr_t memory_begin = address(memory) / memory_step * memory_step;
    const uintptr_t code = address(code_begin());
#if __ARM_ARCH >= 8
    const uintptr_t data_end = round_up(address(bss_end), 32);
    const Range data[] = {{address(stack_top), model, Access::kReadOnly},
                          {model + kModelRegion, data_end, Access::kReadOnly}};
#else
    // A region of a power of two; the later regions have priority.
    const Range data[] = {
        {address(stack_bottom), address(stack_bottom) + (uintptr_t{1} << 20), Access::kReadOnly},
        {0, 0, Access::kReadOnly}};
#endif
    const Range ranges[] = {
        {code, code + kCodeBytes, Access::kCode},
        data[0],
        data[1],
        {address(stack_bottom) + guard_bytes, address(stack_top), Access::kReadWrite},
        {model, model + kModelRegion, Access::kReadWrite},
        {file_begin, file_begin + round_up(address(file) + file_bytes - file_begin, file_step),
         Access::kReadOnly},
        {address(inputs), address(inputs) + kInputMax, Access::kReadOnly},
        {memory_begin,
         memory_begin + round_up(address(memory) + memory_bytes - memory_begin, memory_step),
         Access::kReadWrite},
    };
    mpu_enable(ranges, sizeof ranges / sizeof ranges[0]);
  }

 private:
  static constexpr size_t kCodeBytes = size_t{512} << 10;
  static const void* code_begin() {
    return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(&change) / kCodeBytes *
                                         kCodeBytes);
  }
};

/// Places `bytes` in the zone at 16 bytes: at its end, or at its start.
uint8_t* place(uint8_t* zone, size_t bytes, bool at_end) {
  return at_end ? zone + mpu_zone_bytes(bytes) - round_up(bytes, 16) : zone;
}

/// fits: false for an input that is larger than the zone.
thimble_status set_inputs(bool& fits) {
  thimble_model* const model = &storage.model;
  for (uint32_t i = 0; i < thimble_input_count(model); ++i) {
    thimble_view view;
    thimble_status status = thimble_input(model, i, &view);
    if (status != 0) return status;
    fits = view.bytes <= kInputMax;
    if (!fits) return 0;
    status =
        thimble_set_input(model, i, input_zone + kInputMax - round_up(view.bytes, 16), view.bytes);
    if (status != 0) return status;
  }
  return 0;
}

Stage run_model(Protection& protection, bool at_end, thimble_status& status) {
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_needs needs = {};
  protection.enable();
  status = thimble_size(protection.file, file_bytes, kernels, &needs);
  mpu_disable();
  if (status != 0) return kRefused;
  if (needs.arena_bytes > kMemoryMax || needs.state_bytes > kMemoryMax) return kTooLarge;
  protection.memory_bytes = needs.arena_bytes + needs.state_bytes;
  protection.memory = place(memory_zone, protection.memory_bytes, at_end);
  protection.enable();
  thimble_model* const model = &storage.model;
  status = thimble_init(model, protection.file, file_bytes, kernels, protection.memory,
                        protection.memory_bytes);
  if (status != 0) return kRefused;
  bool fits = true;
  status = set_inputs(fits);
  if (!fits) return kTooLarge;
  if (status != 0) return kInputRefused;
  status = thimble_run(model);
  return status == 0 ? kRan : kRunFailed;
}

// --- accesses that must be faults -----------------------------------------------------------

void write_after_memory(const Protection& protection) {
  const volatile uint8_t* const end = protection.memory + round_up(protection.memory_bytes, 16);
  *const_cast<volatile uint8_t*>(end) = 1;
}
void write_before_memory(const Protection& protection) {
  *const_cast<volatile uint8_t*>(protection.memory - 1) = 1;
}
void write_file(const Protection& protection) {
  *const_cast<volatile uint8_t*>(protection.file) = 1;
}
void write_input(const Protection&) {
  *const_cast<volatile uint8_t*>(input_zone + kInputMax - 1) = 1;
}
void write_variable(const Protection&) {
  *const_cast<volatile uint32_t*>(&unrelated) = 1;
}
void read_after_file(const Protection& protection) {
  (void)*const_cast<volatile uint8_t*>(protection.file + round_up(file_bytes, 16));
}
void read_original(const Protection&) {
  (void)*const_cast<volatile uint8_t*>(original);
}

volatile uint32_t depth_wanted = 1000000;

// Recurses until the stack is full.
// NOLINTNEXTLINE(misc-no-recursion)
[[gnu::noinline]] uint32_t sink(uint32_t depth) {
  volatile uint32_t local[16];
  local[depth % 16] = depth;
  return depth < depth_wanted ? sink(depth + 1) + local[depth % 16] : 0;
}

/// A guard region at the end of the stack, without the stack limit of Armv8-M.
void overflow_stack(const Protection& protection) {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" ::"r"(0));
#endif
  Protection guarded = protection;
  guarded.guard_bytes = size_t{4} << 10;
  guarded.enable();
  (void)sink(0);
}

struct AccessCase {
  const char* name;
  bool at_end;
  void (*access)(const Protection& protection);
};
const AccessCase kAccesses[] = {
    {"none", true, nullptr},
    {"write-after-memory", true, write_after_memory},
    {"write-before-memory", false, write_before_memory},
    {"write-file", true, write_file},
    {"write-input", true, write_input},
    {"write-variable", true, write_variable},
    {"read-after-file", true, read_after_file},
    {"read-elsewhere", true, read_original},
    {"stack-overflow", true, overflow_stack},
};

// --- a model after a fault in its run ----------------------------------------------------------

uint32_t expected_sum;  // of the outputs of a run without a fault
HostFile recovery_results;

uint32_t sum_of_outputs() {
  uint32_t sum = 0;
  thimble_view view;
  for (uint32_t i = 0; i < thimble_output_count(&storage.model); ++i) {
    if (thimble_output(&storage.model, i, &view) != 0) continue;
    const auto* const bytes = static_cast<const uint8_t*>(view.data);
    for (size_t k = 0; k < view.bytes; ++k) sum = 31 * sum + bytes[k];
  }
  return sum;
}

[[noreturn]] void recover() {
  mpu_disable();
  thimble_model* const model = &storage.model;
  Recovery recovery = {};
  recovery.fault_status = fault_status();
  recovery.busy_status = static_cast<uint8_t>(thimble_run(model));
  recovery.reset_status = static_cast<uint8_t>(thimble_reset(model));
  bool fits = true;
  (void)set_inputs(fits);
  recovery.run_status = static_cast<uint8_t>(thimble_run(model));
  recovery.has_same_outputs = sum_of_outputs() == expected_sum ? 1 : 0;
  if (!host_write(recovery_results, &recovery, sizeof recovery)) {
    usage_error("cannot write the results");
  }
  host_exit(kExitOk);
}

constexpr size_t kStackLeft = size_t{4} << 10;  // without the guard region
constexpr size_t kStackOfRun = 300;             // less than a run needs

/// Runs the model when the stack has kStackOfRun bytes left.
// NOLINTNEXTLINE(misc-no-recursion)
[[gnu::noinline]] void run_deep(uintptr_t guard_end) {
  volatile uint32_t local[16];
  local[0] = 0;
  if (reinterpret_cast<uintptr_t>(local) > guard_end + kStackOfRun) {
    run_deep(guard_end);
  } else {
    (void)thimble_run(&storage.model);
  }
  local[1] = 0;
}

[[noreturn]] void run_into_fault(bool of_stack) {
  Protection protection = {place(file_zone, file_bytes, true)};
  std::memcpy(protection.file, original, file_bytes);
  thimble_status status = 0;
  const Stage stage = run_model(protection, true, status);
  mpu_disable();
  if (stage != kRan) usage_error("the model does not run");
  expected_sum = sum_of_outputs();
  continue_after_fault(recover);
  if (of_stack) {
#if __ARM_ARCH >= 8
    __asm__ volatile("msr msplim, %0" ::"r"(0));
#endif
    protection.guard_bytes = static_cast<size_t>(stack_top - stack_bottom) - kStackLeft;
    protection.enable();
    run_deep(reinterpret_cast<uintptr_t>(stack_top) - kStackLeft);
  } else {
    protection.inputs += kZone / 2;  // not those of the model
    protection.enable();
    (void)thimble_run(&storage.model);
  }
  mpu_disable();
  usage_error("the run has not ended in a fault");
}

void read_model(const char* name) {
  const HostFile host = host_open(name, OpenMode::kRead);
  const int32_t length = host.handle < 0 ? -1 : host_length(host);
  if (length < 32 || static_cast<size_t>(length) > kFileMax) usage_error("cannot read the model");
  file_bytes = static_cast<size_t>(length);
  if (!host_read(host, original, file_bytes)) usage_error("cannot read the model");
}

void run_mutation(uint32_t seed, HostFile results, const AccessCase* access) {
  const bool at_end = access != nullptr ? access->at_end : seed % 2 == 1;
  Protection protection = {place(file_zone, file_bytes, at_end)};
  std::memcpy(protection.file, original, file_bytes);
  if (access == nullptr) mutate(protection.file, seed);
  thimble_status status = 0;
  const Stage stage = run_model(protection, at_end, status);
  if (access != nullptr && access->access != nullptr) access->access(protection);
  mpu_disable();
  const uint8_t result[2] = {stage, static_cast<uint8_t>(status)};
  if (!host_write(results, result, sizeof result)) usage_error("cannot write the results");
}

}  // namespace

int main() {
  const char* words[kWords];
  if (split_command_line(command_line, sizeof command_line, words, kWords) != kWords) {
    usage_error("usage: memory_protection MODEL.pte FIRST_SEED|ACCESS COUNT RESULTS");
  }
  read_model(words[1]);
  std::memset(input_zone, 0, kInputMax);
  const HostFile results = host_open(words[4], OpenMode::kWrite);
  uint32_t first = 0, mutations = 0;
  if (results.handle < 0) usage_error("cannot write the results", words[4]);
  if (!read_number(words[3], mutations)) usage_error("COUNT is not a number", words[3]);
  if (read_number(words[2], first)) {
    for (uint32_t i = 0; i < mutations; ++i) run_mutation(first + i, results, nullptr);
    return kExitOk;
  }
  recovery_results = results;
  if (std::strcmp(words[2], "input-fault") == 0) run_into_fault(false);
  if (std::strcmp(words[2], "stack-fault") == 0) run_into_fault(true);
  for (const AccessCase& access : kAccesses) {
    if (std::strcmp(access.name, words[2]) != 0) continue;
    run_mutation(0, results, &access);
    return kExitOk;
  }
  usage_error("no such access", words[2]);
}
