// SPDX-License-Identifier: Apache-2.0
// Several models on one core: random calls in one arena, or a model in an interrupt handler that
// runs while the main program runs another one. The semihosting command line is one of
//
//   soak series CALLS SEED MODEL.pte...    (soak.h); the models are initialized in this order
//   soak interrupts RUNS A.pte B.pte       B runs in the handler of SysTick, in memory of its own
//
// It prints one line with the counts, and ends with an exit code other than 0 if a hash is not that
// of a single run, or if a call of a running model is not refused.

#include "firmware/apps/soak/soak.h"

#include <cstring>

#include "abi/freestanding.h"
#include "abi/status.h"
#include "firmware/common/command_line.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/registers.h"
#include "firmware/common/rounding.h"
#include "firmware/common/semihosting.h"
#include "firmware/common/text.h"

extern "C" uint8_t big_start[], big_end[];

namespace {

using namespace thimble::firmware;
using namespace thimble::soak;

constexpr uint32_t kWordsMax = 12;
constexpr uint32_t kModelsOfSeries = kWordsMax - 4;
static_assert(kModelsOfSeries <= kModelsMax);

char command_line[1024];
uint8_t* free_memory = big_start;

void require(thimble_status status) {
  if (status == 0) return;
  host_print("status ");
  host_print(thimble_status_text(status));
  host_print("\n");
  host_exit(kExitStatus);
}

uint8_t* allocate(size_t bytes) {
  constexpr size_t kAlignment = 32;
  const size_t rounded = round_up(bytes, kAlignment);
  if (rounded > static_cast<size_t>(big_end - free_memory)) usage_error("no memory");
  uint8_t* memory = free_memory;
  free_memory += rounded;
  return memory;
}

const uint8_t* read_file(const char* name, size_t* bytes) {
  const HostFile file = host_open(name, OpenMode::kRead);
  const int32_t length = file.handle < 0 ? -1 : host_length(file);
  if (length < 0) usage_error("cannot read", name);
  *bytes = static_cast<size_t>(length);
  uint8_t* data = allocate(*bytes);
  if (!host_read(file, data, *bytes)) usage_error("cannot read", name);
  host_close(file);
  return data;
}

uint32_t number(const char* word) {
  uint32_t value = 0;
  if (!read_number(word, value)) usage_error("not a number:", word);
  return value;
}

/// A model with memory of its own.
struct Loaded {
  const uint8_t* pte;
  size_t pte_bytes;
  thimble_needs needs;
  uint8_t* memory;
  uint8_t* inputs;
  thimble_model model;
};

void init(Loaded& one) {
  require(thimble_init(&one.model, one.pte, one.pte_bytes, thimble_all_kernels(), one.memory,
                       one.needs.arena_bytes + one.needs.state_bytes));
}

void load(Loaded& one, const char* name) {
  one.pte = read_file(name, &one.pte_bytes);
  require(thimble_size(one.pte, one.pte_bytes, thimble_all_kernels(), &one.needs));
  one.memory = allocate(one.needs.arena_bytes + one.needs.state_bytes);
  init(one);
  one.inputs = allocate(input_bytes(&one.model));
}

// --- series ------------------------------------------------------------------------------------

int run_series(const char** words, uint32_t count) {
  const uint32_t calls = number(words[2]), seed = number(words[3]);
  static Loaded loaded[kModelsOfSeries];
  const uint32_t models = count - 4;
  size_t bytes = 0;
  for (uint32_t m = 0; m < models; ++m) {
    load(loaded[m], words[4 + m]);
    const size_t needed = loaded[m].needs.arena_bytes + loaded[m].needs.state_bytes;
    if (needed > bytes) bytes = needed;
  }
  alignas(Soak) static uint8_t storage[sizeof(Soak)];
  Soak& soak = *new (thimble::abi::Place{storage}) Soak(allocate(bytes), bytes);
  for (uint32_t m = 0; m < models; ++m) {
    Participant* one = soak.add(loaded[m].pte, loaded[m].pte_bytes, thimble_all_kernels());
    one->needs = loaded[m].needs;
    one->inputs = loaded[m].inputs;
    one->saved = allocate(one->needs.saved_bytes);
  }
  require(soak.record());
  const Report report = soak.run(calls, seed);
  require(report.status);
  char buffer[120];
  Text text(buffer, sizeof buffer);
  text << "calls " << report.calls << " resets " << report.resets << " restores " << report.restores
       << " wrong " << report.wrong << " longest " << report.longest << "\n";
  host_print(text.text());
  return static_cast<int>(report.wrong == 0 ? kExitOk : kExitStatus);
}

// --- interrupts --------------------------------------------------------------------------------

Loaded low, high;  // of the main program, and of the handler
uint64_t expected_low[kSeries], expected_high[kSeries];
volatile bool low_runs;
// Counts of the handler.
volatile uint32_t handled, nested, refused, idle, wrong_high;

constexpr uintptr_t kSysTickControl = 0xE000E010, kSysTickReload = 0xE000E014,
                    kSysTickValue = 0xE000E018, kVectorTable = 0xE000ED08;
// Clock cycles from the end of a handler to the next interrupt: shorter than each run of the test,
// so that it is interrupted.
constexpr uint32_t kPeriod = 60000;
constexpr uint32_t kTicking = 7;  // processor clock, interrupt, enable
constexpr uint32_t kVectors = 16, kSysTick = 15;
alignas(256) uint32_t vectors[kVectors];

bool is_busy(thimble_status status) {
  return status == static_cast<thimble_status>(thimble::abi::Status::kBusy);
}

/// The interrupted model is running: each call that would change it must be refused. An interrupt
/// between a mark of this program and the run itself finds the model idle.
void check_low_is_busy() {
  nested = nested + 1;
  thimble_view view;
  require(thimble_input(&low.model, 0, &view));
  const thimble_status first = thimble_set_input(&low.model, 0, low.inputs, view.bytes);
  if (first == 0) {
    idle = idle + 1;
    return;
  }
  const bool all_busy = is_busy(first) && is_busy(thimble_run(&low.model)) &&
                        is_busy(thimble_save(&low.model, nullptr, low.needs.saved_bytes)) &&
                        is_busy(thimble_restore(&low.model, nullptr, low.needs.saved_bytes));
  if (all_busy) {
    refused = refused + 1;
  } else {
    wrong_high = wrong_high + 1;
  }
}

/// Handler of SysTick.
void tick() {
  // Without this, a handler that takes longer than the period leaves no time for the main program.
  system_register(kSysTickControl) = 0;
  const bool inside = low_runs;
  uint64_t hash = 0;
  const uint32_t step = handled % kSeries;
  if (step == 0) require(thimble_reset(&high.model));
  require(call(&high.model, 1, step, high.inputs, &hash));
  if (hash != expected_high[step]) wrong_high = wrong_high + 1;
  handled = handled + 1;
  if (inside) check_low_is_busy();
  system_register(kSysTickValue) = 0;
  system_register(kSysTickControl) = kTicking;
}

void start_ticks() {
  const auto* table = reinterpret_cast<const uint32_t*>(uintptr_t{system_register(kVectorTable)});
  for (uint32_t i = 0; i < kVectors; ++i) vectors[i] = table[i];
  vectors[kSysTick] = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(&tick));
  system_register(kVectorTable) = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(vectors));
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  system_register(kSysTickReload) = kPeriod;
  system_register(kSysTickValue) = 0;
  system_register(kSysTickControl) = kTicking;
}

void record(Loaded& one, uint32_t series, uint64_t* hashes) {
  for (uint32_t step = 0; step < kSeries; ++step) {
    require(call(&one.model, series, step, one.inputs, &hashes[step]));
  }
  init(one);
}

/// Runs the model of the main program. The mark tells the handler that it interrupts the run.
thimble_status run_marked(thimble_model* model) {
  low_runs = true;
  const thimble_status status = thimble_run(model);
  low_runs = false;
  return status;
}

int run_interrupts(const char** words) {
  const uint32_t runs = number(words[2]);
  load(low, words[3]);
  load(high, words[4]);
  record(low, 0, expected_low);
  record(high, 1, expected_high);
  start_ticks();
  uint32_t wrong_low = 0, done = 0;
  for (; done < runs; ++done) {
    const uint32_t step = done % kSeries;
    if (step == 0) require(thimble_reset(&low.model));
    uint64_t hash = 0;
    require(call(&low.model, 0, step, low.inputs, &hash, run_marked));
    if (hash != expected_low[step]) ++wrong_low;
  }
  system_register(kSysTickControl) = 0;
  char buffer[160];
  Text text(buffer, sizeof buffer);
  text << "runs " << done << " handled " << handled << " nested " << nested << " refused "
       << refused << " wrong " << wrong_low + wrong_high << "\n";
  host_print(text.text());
  const bool good = wrong_low + wrong_high == 0 && refused != 0 && idle * 10 <= refused;
  return static_cast<int>(good ? kExitOk : kExitStatus);
}

}  // namespace

int main() {
  const char* words[kWordsMax];
  const uint32_t count = split_command_line(command_line, sizeof command_line, words, kWordsMax);
  if (count > 4 && std::strcmp(words[1], "series") == 0) return run_series(words, count);
  if (count == 5 && std::strcmp(words[1], "interrupts") == 0) return run_interrupts(words);
  usage_error("usage:", "soak series CALLS SEED MODEL.pte..., or soak interrupts RUNS A.pte B.pte");
}
