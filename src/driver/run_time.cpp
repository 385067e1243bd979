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

/// Tells whether the part's file has what the wait states of constants depend on.
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

/// Fills the times of the rows of delegates: NPU cycles on the NPU's clock.
void time_delegate_rows(const engine::Lowered& lowered, std::span<const RowOp> rows,
                        CompileReport* report) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    OpReport& op = report->ops[i];
    if (call.delegate < 0 || !op.cycles) continue;
    const engine::Delegate& delegate = lowered.delegates[static_cast<size_t>(call.delegate)];
    if (delegate.clock_mhz > 0) op.time_us = static_cast<double>(*op.cycles) / delegate.clock_mhz;
  }
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
  time_delegate_rows(lowered, rows, report);
  report->clock_mhz = part.clock_mhz;
  int64_t cycles = 0, unmeasured = 0;
  bool known = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    OpReport& op = report->ops[i];
    if (lowered.calls[rows[i].call].delegate >= 0) continue;
    known = known && op.cycles.has_value();
    cycles += op.cycles.value_or(0);
    if (!op.measured) unmeasured += op.cycles.value_or(0);
    if (part.clock_mhz > 0 && op.cycles) {
      op.time_us = static_cast<double>(*op.cycles) / part.clock_mhz;
    }
  }
  if (!known) return;
  report->cycles = cycles;
  if (unmeasured > 0) {
    report->notes.push_back(fmt::format(
        "{:.0f} % of the core's cycles are of operators that were not measured on {}: "
        "they count as average operators of their size",
        100.0 * static_cast<double>(unmeasured) / static_cast<double>(cycles), part.cpu->name));
  }
  double time_us = part.clock_mhz > 0 ? static_cast<double>(cycles) / part.clock_mhz : 0;
  known = part.clock_mhz > 0 || cycles == 0;
  for (const engine::Delegate& delegate : lowered.delegates) {
    known = known && delegate.clock_mhz > 0 && delegate.cycles.has_value();
    if (!known) return;
    time_us += delegate.call_us + static_cast<double>(*delegate.cycles) / delegate.clock_mhz;
  }
  if (!known) return;
  report->time_us = time_us;
  // The band was validated for cores whose memories are modelled, not for NPUs.
  if (has_waits(part, report) && lowered.delegates.empty()) {
    report->time_error_percent = kTimeErrorPercent;
  }
  if (part.ua_per_mhz && part.supply_volts && lowered.delegates.empty()) {
    // uA * V * us = pJ
    report->energy_uj = *part.ua_per_mhz * part.clock_mhz * *part.supply_volts * time_us * 1e-6;
  }
}

}  // namespace thimble::driver
