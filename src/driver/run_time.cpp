#include "driver/run_time.h"

#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "memory/accesses.h"

namespace thimble::driver {
namespace {

/// The constants that a call reads: their size, and the bytes that it reads of them.
struct ConstantReads {
  int64_t bytes = 0, accessed = 0;
};
ConstantReads constant_reads(const engine::Lowered& lowered, const engine::KernelCall& call,
                             const engine::Core& core) {
  const memory::Accesses accesses = memory::accesses_of(lowered, call, core);
  ConstantReads reads;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const auto* const constant = std::get_if<engine::Constant>(&call.arguments[i]);
    if (constant == nullptr) continue;
    reads.bytes += static_cast<int64_t>(constant->bytes->size());
    reads.accessed += accesses.arguments[i];
  }
  return reads;
}

/// Returns the memory that holds the constants: the first one that is kept without power.
const engine::PartMemory* constant_memory(const engine::Part& part) {
  const auto found = std::ranges::find_if(part.memories, &engine::PartMemory::kept);
  return found == part.memories.end() ? nullptr : &*found;
}

/// Returns true if the part's file states what the wait states of constants depend on.
bool waits_known(const engine::PartMemory& memory) {
  if (!memory.wait_states) return false;
  if (*memory.wait_states == 0) return true;
  return memory.cache_bytes && (*memory.cache_bytes == 0 || memory.line_bytes > 0);
}

/// Tells whether the time has the wait states of the memory with the constants; adds a note if not.
bool has_waits(const engine::Part& part, CompileReport* report) {
  const engine::PartMemory* const memory = constant_memory(part);
  if (memory == nullptr) return true;
  if (!waits_known(*memory)) {
    report->notes.push_back(
        fmt::format("the time has no wait states of {}: the documents of {} do not state {}",
                    memory->name, part.name,
                    !memory->wait_states   ? "them"
                    : !memory->cache_bytes ? "the size of its cache"
                                           : "the bytes of an access"));
    return false;
  }
  if (*memory->wait_states > 0 && *memory->cache_bytes == 0 && !memory->prefetch) {
    report->notes.push_back(
        fmt::format("the time has the wait states of constants in {}, not those of instructions",
                    memory->name));
    return false;
  }
  return true;
}

/// Adds the wait states to the cycles of the core's calls.
void add_waits(const engine::Lowered& lowered, const engine::Part& part,
               std::span<const RowOp> rows, CompileReport* report) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    OpReport& op = report->ops[i];
    if (call.delegate >= 0 || !op.cycles) continue;
    *op.cycles += std::llround(constant_wait_cycles(lowered, call, part));
  }
}

/// Fills the times of the rows: cycles of the core on its clock, those of delegates on their NPU's.
void fill_times(const engine::Lowered& lowered, double core_mhz, std::span<const RowOp> rows,
                CompileReport* report) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    const double clock_mhz = call.delegate < 0
                                 ? core_mhz
                                 : lowered.delegates[static_cast<size_t>(call.delegate)].clock_mhz;
    OpReport& op = report->ops[i];
    if (clock_mhz > 0 && op.cycles) op.time_us = static_cast<double>(*op.cycles) / clock_mhz;
  }
}

/// Cycles of the core in one run.
struct CoreCycles {
  int64_t all = 0;
  int64_t unmeasured = 0;  // of operators that count as average ones
};

/// Returns the sum over the calls of the core; nothing if one has no estimate.
std::optional<CoreCycles> sum_core_cycles(const engine::Lowered& lowered,
                                          std::span<const RowOp> rows,
                                          const CompileReport& report) {
  CoreCycles sum;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (lowered.calls[rows[i].call].delegate >= 0) continue;
    const OpReport& op = report.ops[i];
    if (!op.cycles) return std::nullopt;
    sum.all += *op.cycles;
    if (!op.measured) sum.unmeasured += *op.cycles;
  }
  return sum;
}

/// Returns the time of one run; nothing if a clock or the cycles of a delegate are not known.
std::optional<double> run_time_us(const engine::Lowered& lowered, int64_t core_cycles,
                                  double core_mhz) {
  if (core_mhz <= 0 && core_cycles > 0) return std::nullopt;
  double time_us = core_cycles > 0 ? static_cast<double>(core_cycles) / core_mhz : 0;
  for (const engine::Delegate& delegate : lowered.delegates) {
    if (delegate.clock_mhz <= 0 || !delegate.cycles) return std::nullopt;
    time_us += delegate.call_us + static_cast<double>(*delegate.cycles) / delegate.clock_mhz;
  }
  return time_us;
}

}  // namespace

double wait_cycles(const engine::PartMemory& memory, const engine::Core& core, int64_t bytes,
                   int64_t accessed) {
  const double waits = memory.wait_states.value_or(0);
  if (!waits_known(memory) || waits == 0) return 0;
  if (*memory.cache_bytes == 0) {
    // Each load waits. Kernels for Armv6-M load constants by the byte, others by the word.
    const int64_t load = core.isa == abi::Isa::kThumb1 ? 1 : 4;
    return waits * static_cast<double>(divide_up(accessed, load));
  }
  // Constants that fit into the cache are read from the memory once.
  const int64_t read = bytes <= *memory.cache_bytes ? bytes : accessed;
  return waits * static_cast<double>(divide_up(read, memory.line_bytes));
}

bool has_known_waits(const engine::Part& part) {
  const engine::PartMemory* const memory = constant_memory(part);
  return memory != nullptr && waits_known(*memory);
}

double constant_wait_cycles(const engine::Lowered& lowered, const engine::KernelCall& call,
                            const engine::Part& part) {
  const engine::PartMemory* const memory = constant_memory(part);
  if (memory == nullptr) return 0;
  const ConstantReads reads = constant_reads(lowered, call, *part.cpu);
  return wait_cycles(*memory, *part.cpu, reads.bytes, reads.accessed);
}

void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, CompileReport* report) {
  add_waits(lowered, part, rows, report);
  fill_times(lowered, part.clock_mhz, rows, report);
  report->clock_mhz = part.clock_mhz;
  const std::optional<CoreCycles> core = sum_core_cycles(lowered, rows, *report);
  if (!core) return;
  report->cycles = core->all;
  if (core->unmeasured > 0) {
    report->notes.push_back(
        fmt::format("{:.0f} % of the core's cycles are of operators that were not measured on {}: "
                    "they count as average operators of their size",
                    100.0 * static_cast<double>(core->unmeasured) / static_cast<double>(core->all),
                    part.cpu->name));
  }
  report->time_us = run_time_us(lowered, core->all, part.clock_mhz);
  if (!report->time_us) return;
  // The band was validated for measured operators on cores whose memories are modelled, not for
  // NPUs.
  constexpr int64_t kUnmeasuredShareMax = 20;  // a 20th
  const bool measured = core->unmeasured * kUnmeasuredShareMax <= core->all;
  if (has_waits(part, report) && lowered.delegates.empty() && measured) {
    report->time_error_percent = kTimeErrorPercent;
  }
  if (part.ua_per_mhz && part.supply_volts && lowered.delegates.empty()) {
    // uA * V * us = pJ
    report->energy_uj =
        *part.ua_per_mhz * part.clock_mhz * *part.supply_volts * *report->time_us * 1e-6;
  }
}

}  // namespace thimble::driver
