#include "driver/run_time.h"

#include <algorithm>
#include <cmath>

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

/// Adds the wait states to the cycles of the core's calls.
void add_waits(const engine::Lowered& lowered, const engine::Part& part,
               std::span<const RowOp> rows, CompileReport* report) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    OpReport& op = report->ops[i];
    if (call.delegate >= 0 || !op.cycles) continue;
    const double waits = constant_wait_cycles(lowered, call, part, static_cast<double>(*op.cycles));
    *op.cycles += std::llround(waits);
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

double wait_cycles(const engine::PartMemory& memory, int64_t bytes, int64_t accessed,
                   double cycles) {
  const double waits = memory.wait_states.value_or(0);
  if (waits <= 0 || memory.line_bytes == 0 || accessed == 0) return 0;
  // Constants that fit into the cache are read from the memory once.
  const auto read = static_cast<double>(bytes <= memory.cache_bytes ? bytes : accessed);
  const double lines = read / static_cast<double>(memory.line_bytes);
  if (!memory.prefetch) return lines * waits;
  // The next line is read while the core uses this one.
  const double cycles_per_line =
      cycles * static_cast<double>(memory.line_bytes) / static_cast<double>(accessed);
  return lines * std::max(0.0, waits + 1 - cycles_per_line);
}

double constant_wait_cycles(const engine::Lowered& lowered, const engine::KernelCall& call,
                            const engine::Part& part, double cycles) {
  const engine::PartMemory* const memory = constant_memory(part);
  if (memory == nullptr) return 0;
  const ConstantReads reads = constant_reads(lowered, call, *part.cpu);
  return wait_cycles(*memory, reads.bytes, reads.accessed, cycles);
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
  report->time_error_percent = kTimeErrorPercent;
  if (part.ua_per_mhz && part.supply_volts && lowered.delegates.empty()) {
    // uA * V * us = pJ
    report->energy_uj = *part.ua_per_mhz * part.clock_mhz * *part.supply_volts * time_us * 1e-6;
  }
}

}  // namespace thimble::driver
