#include "driver/run_time.h"

#include <algorithm>
#include <cmath>

namespace thimble::driver {
namespace {

/// Returns what the part's file lacks for the wait states of the memory.
std::string_view missing_fact(const engine::PartMemory& memory) {
  if (!memory.wait_states) return "them";
  return memory.cache_bytes ? "the bytes of an access" : "the size of its cache";
}

/// Tells whether the time has the wait states of all memories; adds a note for each other one.
bool has_waits(const engine::Part& part, const OperandMemories& memories, CompileReport* report) {
  bool known = true;
  const std::vector<const engine::PartMemory*> all = memories.all();
  for (const engine::PartMemory* const memory : all) {
    if (waits_known(*memory)) continue;
    known = false;
    report->notes.push_back(
        fmt::format("the time has no wait states of {}: the documents of {} do not state {}",
                    memory->name, part.name, missing_fact(*memory)));
  }
  const engine::PartMemory* const code = memories.code;
  const bool code_waits = code != nullptr && code->wait_states.value_or(0) > 0 &&
                          code->cache_bytes == 0 && !code->prefetch;
  if (!code_waits) return known;
  const bool has_constants = std::ranges::find(all, code) != all.end();
  report->notes.push_back(fmt::format("the time has {}the wait states of instructions in {}",
                                      has_constants ? "the wait states of constants, not " : "not ",
                                      code->name));
  return false;
}

/// Adds the wait states to the cycles of the core's calls.
void add_waits(const engine::Lowered& lowered, const engine::Core& core,
               std::span<const RowOp> rows, const OperandMemories& memories,
               CompileReport* report) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    OpReport& op = report->ops[i];
    if (call.delegate >= 0 || !op.cycles) continue;
    *op.cycles += std::llround(wait_cycles(lowered, call, rows[i].call, core, memories));
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

bool has_known_waits(const OperandMemories& memories) {
  const auto all = memories.all();
  const bool has_constants = memories.constants != nullptr || !memories.arguments.empty();
  return has_constants &&
         std::ranges::all_of(all, [](const auto* memory) { return waits_known(*memory); });
}

void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, const OperandMemories& memories, bool has_runtime,
                 CompileReport* report) {
  add_waits(lowered, *part.cpu, rows, memories, report);
  fill_times(lowered, part.clock_mhz, rows, report);
  report->clock_mhz = part.clock_mhz;
  std::optional<CoreCycles> core = sum_core_cycles(lowered, rows, *report);
  if (!core) return;
  if (has_runtime && part.cpu->runtime_cycles != nullptr) {
    report->runtime_cycles = part.cpu->runtime_cycles(std::ssize(lowered.calls), *part.cpu);
    core->all += report->runtime_cycles.value_or(0);
  }
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
  if (has_waits(part, memories, report) && lowered.delegates.empty() && measured) {
    report->time_error_percent = kTimeErrorPercent;
  }
  if (part.ua_per_mhz && part.supply_volts && lowered.delegates.empty()) {
    // uA * V * us = pJ
    report->energy_uj =
        *part.ua_per_mhz * part.clock_mhz * *part.supply_volts * *report->time_us * 1e-6;
  }
}

}  // namespace thimble::driver
