// Loads and runs mutations of a model behind a fence of the memory protection unit. While
// the runtime works, only the stack, the model object and the memory that was passed to
// thimble_init can be written; only these, the code, the constants, the file and the inputs can be
// read. Every other access is a fault, which the fault handler reports (exit code 3).
//
//   fence MODEL.pte FIRST_SEED COUNT RESULTS   COUNT mutations, each made from its seed
//   fence MODEL.pte ACCESS 0 RESULTS           the model as it is, then one access that the fence
//                                              must stop: a name of kAccesses
//
// RESULTS gets two bytes for each mutation: how far it came (Stage), and the status. After a fault,
// its length tells which mutation it was. Memory ends at the end of a region for odd seeds, and
// begins at the start of one for even seeds, so that both ends are exact.

#include <cstring>

#include "firmware/apps/fence/mpu.h"
#include "firmware/apps/fence/mutate_word.h"
#include "firmware/apps/fence/stage.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"
#include "runtime/include/thimble.h"

extern "C" uint8_t big_start[];
extern "C" uint8_t stack_bottom[], stack_top[], data_start[], bss_end[];

namespace {

using namespace thimble::firmware;
using thimble::fuzz::below;
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
char* words[5];
size_t file_bytes;
uint32_t unrelated;  // a variable of the application

class Random {
 public:
  explicit Random(uint32_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x2545F4914F6CDD1DU) {}
  uint32_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<uint32_t>(state_ * 0x2545F4914F6CDD1DU >> 32);
  }

 private:
  uint64_t state_;
};

size_t rounded(size_t bytes, size_t step) {
  return (bytes + step - 1) / step * step;
}

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
  const size_t begin = below(random, 4) != 0 ? base : 0;
  const size_t area =
      begin != 0 && file_bytes - begin > kRecordBytes ? kRecordBytes : file_bytes - begin;
  const size_t size = size_t{1} << below(random, 3);
  if (area < 8) return;
  uint8_t* const at = file + begin + size * below(random, area / size);
  uint32_t value = 0;
  std::memcpy(&value, at, size);
  value = below(random, 4) == 0 ? word_at(file + 4 * below(random, file_bytes / 4))
                                : mutate_word(value, random);
  std::memcpy(at, &value, size);
}

void mutate(uint8_t* file, uint32_t seed) {
  constexpr size_t kFrame = 8;  // root and identifier
  Random random(seed);
  for (size_t left = 1 + below(random, 3); left > 0; --left) change(file, random);
  if (below(random, 16) != 0) std::memcpy(file, original, kFrame);
}

/// The fence around the file and `memory`; both ends are at steps of the unit.
struct Fence {
  uint8_t* file;
  uint8_t* memory = memory_zone;
  size_t memory_bytes = 0;
  size_t guard_bytes = 0;  // at the end of the stack; not accessible

  void raise() const {
    const auto address = [](const void* at) { return reinterpret_cast<uintptr_t>(at); };
    const uintptr_t model = address(&storage);
    const size_t file_step = mpu_step(file_bytes), memory_step = mpu_step(memory_bytes);
    const uintptr_t file_begin = address(file) / file_step * file_step;
    const uintptr_t memory_begin = address(memory) / memory_step * memory_step;
    const uintptr_t code = address(code_begin());
#if __ARM_ARCH >= 8
    const uintptr_t data_end = rounded(address(bss_end), 32);
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
        {file_begin, file_begin + rounded(address(file) + file_bytes - file_begin, file_step),
         Access::kReadOnly},
        {address(input_zone), address(input_zone) + kInputMax, Access::kReadOnly},
        {memory_begin,
         memory_begin + rounded(address(memory) + memory_bytes - memory_begin, memory_step),
         Access::kReadWrite},
    };
    mpu_fence(ranges, sizeof ranges / sizeof ranges[0]);
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
  return at_end ? zone + mpu_zone_bytes(bytes) - rounded(bytes, 16) : zone;
}

Stage run_model(Fence& fence, bool at_end, thimble_status& status) {
  const thimble_kernels* const kernels = thimble_all_kernels();
  thimble_needs needs = {};
  fence.raise();
  status = thimble_size(fence.file, file_bytes, kernels, &needs);
  mpu_off();
  if (status != 0) return kRefused;
  if (needs.arena_bytes > kMemoryMax || needs.state_bytes > kMemoryMax) return kTooLarge;
  fence.memory_bytes = needs.arena_bytes + needs.state_bytes;
  fence.memory = place(memory_zone, fence.memory_bytes, at_end);
  fence.raise();
  thimble_model* const model = &storage.model;
  status = thimble_init(model, fence.file, file_bytes, kernels, fence.memory, fence.memory_bytes);
  if (status != 0) return kRefused;
  for (uint32_t i = 0; i < thimble_input_count(model); ++i) {
    thimble_view view;
    status = thimble_input(model, i, &view);
    if (status != 0) return kInputRefused;
    if (view.bytes > kInputMax) return kTooLarge;
    status =
        thimble_set_input(model, i, input_zone + kInputMax - rounded(view.bytes, 16), view.bytes);
    if (status != 0) return kInputRefused;
  }
  status = thimble_run(model);
  return status == 0 ? kRan : kRunFailed;
}

// --- accesses that the fence must stop -----------------------------------------------------------

void write_after_memory(const Fence& fence) {
  const volatile uint8_t* const end = fence.memory + rounded(fence.memory_bytes, 16);
  *const_cast<volatile uint8_t*>(end) = 1;
}
void write_before_memory(const Fence& fence) {
  *const_cast<volatile uint8_t*>(fence.memory - 1) = 1;
}
void write_file(const Fence& fence) {
  *const_cast<volatile uint8_t*>(fence.file) = 1;
}
void write_input(const Fence&) {
  *const_cast<volatile uint8_t*>(input_zone + kInputMax - 1) = 1;
}
void write_variable(const Fence&) {
  *const_cast<volatile uint32_t*>(&unrelated) = 1;
}
void read_after_file(const Fence& fence) {
  (void)*const_cast<volatile uint8_t*>(fence.file + rounded(file_bytes, 16));
}
void read_original(const Fence&) {
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
void overflow_stack(const Fence& fence) {
#if __ARM_ARCH >= 8
  __asm__ volatile("msr msplim, %0" ::"r"(0));
#endif
  Fence guarded = fence;
  guarded.guard_bytes = size_t{4} << 10;
  guarded.raise();
  (void)sink(0);
}

struct AccessCase {
  const char* name;
  bool at_end;
  void (*access)(const Fence& fence);
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

[[noreturn]] void fail(const char* message) {
  host_print("error: ");
  host_print(message);
  host_print("\n");
  host_exit(kExitUsage);
}

bool read_number(const char* word, uint32_t& number) {
  number = 0;
  for (; *word >= '0' && *word <= '9'; ++word) {
    number = number * 10 + static_cast<uint32_t>(*word - '0');
  }
  return *word == 0;
}

void read_model(const char* name) {
  const HostFile host = host_open(name, OpenMode::kRead);
  const int32_t length = host.handle < 0 ? -1 : host_length(host);
  if (length < 32 || static_cast<size_t>(length) > kFileMax) fail("cannot read the model");
  file_bytes = static_cast<size_t>(length);
  if (!host_read(host, original, file_bytes)) fail("cannot read the model");
}

void run_mutation(uint32_t seed, HostFile results, const AccessCase* access) {
  const bool at_end = access != nullptr ? access->at_end : seed % 2 == 1;
  Fence fence = {place(file_zone, file_bytes, at_end)};
  std::memcpy(fence.file, original, file_bytes);
  if (access == nullptr) mutate(fence.file, seed);
  thimble_status status = 0;
  const Stage stage = run_model(fence, at_end, status);
  if (access != nullptr && access->access != nullptr) access->access(fence);
  mpu_off();
  const uint8_t result[2] = {stage, static_cast<uint8_t>(status)};
  if (!host_write(results, result, sizeof result)) fail("cannot write the results");
}

}  // namespace

int main() {
  if (!host_command_line(command_line, sizeof command_line)) return kExitUsage;
  uint32_t count = 0;
  for (char* at = command_line; *at != 0 && count < 5;) {
    words[count++] = at;
    while (*at != 0 && *at != ' ') ++at;
    while (*at == ' ') *at++ = 0;
  }
  if (count != 5) fail("usage: fence MODEL.pte FIRST_SEED|ACCESS COUNT RESULTS");
  read_model(words[1]);
  std::memset(input_zone, 0, kInputMax);
  const HostFile results = host_open(words[4], OpenMode::kWrite);
  uint32_t first = 0, mutations = 0;
  if (results.handle < 0 || !read_number(words[3], mutations)) fail("cannot write the results");
  if (read_number(words[2], first)) {
    for (uint32_t i = 0; i < mutations; ++i) run_mutation(first + i, results, nullptr);
    return kExitOk;
  }
  for (const AccessCase& access : kAccesses) {
    if (std::strcmp(access.name, words[2]) != 0) continue;
    run_mutation(0, results, &access);
    return kExitOk;
  }
  fail("no such access");
}
