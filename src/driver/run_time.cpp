// SPDX-License-Identifier: Apache-2.0
#include "driver/run_time.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <map>

#include "base/size_text.h"
#include "driver/code_waits.h"
#include "driver/missing_waits.h"
#include "driver/overlap.h"

namespace thimble::driver {
namespace {

/// "2 wait states, 8 bytes per access, prefetch, 16 bytes of cache"
std::string code_memory_text(const engine::PartMemory& memory) {
  const int64_t cache = memory.instruction_cache_bytes.value_or(0);
  return fmt::format("{:g} wait states, {} bytes per access, {}, {}",
                     memory.wait_states.value_or(0), code_access_bytes(memory),
                     memory.prefetch ? "prefetch" : "no prefetch",
                     cache == 0 ? "no cache" : fmt::format("{} bytes of cache", cache));
}

/// "kernel code, at most 9,812 B, is copied from flash to itcm at startup: 1,204 cycles fewer (3.1
/// %)"; `cycles`: of the core for one run.
std::string kernel_code_text(const KernelCode& code, const OperandMemories& memories,
                             double cycles) {
  const std::string bytes =
      code.bytes > 0 ? fmt::format(", at most {} B,", with_commas(code.bytes)) : "";
  const std::string from =
      memories.code != nullptr ? fmt::format("from {} ", memories.code->name) : "";
  if (!code.cycles_saved) {
    return fmt::format(
        "kernel code{} is copied {}to {} at startup; the gain is not known, because the wait "
        "states of instructions are not stated",
        bytes, from, code.memory);
  }
  const auto saved = static_cast<double>(*code.cycles_saved);
  return fmt::format("kernel code{} is copied {}to {} at startup: {} cycles fewer ({:.1f} %)",
                     bytes, from, code.memory, with_commas(*code.cycles_saved),
                     cycles + saved > 0 ? 100 * saved / (cycles + saved) : 0.0);
}

/// Adds the wait states to the cycles of the core's calls and of the runtime, and a note if those
/// of instructions matter.
void add_waits(const engine::Lowered& lowered, const engine::Core& core,
               std::span<const RowOp> rows, const OperandMemories& memories,
               CompileReport* report) {
  double code_waits = 0, all = 0, saved = 0;
  const auto add = [&](const engine::PartMemory* code, int64_t without, int64_t with) {
    const double waits = code_wait_cycles(code, core, static_cast<double>(without));
    saved += code_wait_cycles(memories.code, core, static_cast<double>(without)) - waits;
    if (code == memories.code) code_waits += waits;
    all += static_cast<double>(with);
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[rows[i].call];
    OpReport& op = report->ops[i];
    if (call.delegate >= 0 || !op.cycles) continue;
    const int64_t without = *op.cycles;
    *op.cycles += call_wait_cycles(lowered, call, rows[i].call, core, memories, without);
    add(memories.code_of_kernels(), without, *op.cycles);
  }
  if (report->runtime_work && core.runtime_cycles != nullptr) {
    const std::optional<int64_t> without = core.runtime_cycles(*report->runtime_work, core);
    report->runtime_cycles = runtime_cycles(*report->runtime_work, core, memories);
    if (without) add(memories.code, *without, *report->runtime_cycles);
  }
  if (memories.kernel_code != nullptr) {
    assert(report->kernel_code && "list_memories() comes before");
    if (memories.code != nullptr && code_waits_known(memories.code, core)) {
      report->kernel_code->cycles_saved = std::llround(saved);
    }
    report->notes.push_back(kernel_code_text(*report->kernel_code, memories, all));
  }
  constexpr double kShareMin = 0.01;
  if (code_waits < kShareMin * all || code_waits == 0) return;
  report->notes.push_back(
      fmt::format("{:.0f} % of the core's cycles are wait states of instructions in {}: {}",
                  100 * code_waits / all, memories.code->name, code_memory_text(*memories.code)));
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
  std::map<engine::CycleBasis, int64_t> by_basis;

  [[nodiscard]] double percent_of(engine::CycleBasis basis) const {
    const auto found = by_basis.find(basis);
    if (found == by_basis.end() || all == 0) return 0;
    return 100.0 * static_cast<double>(found->second) / static_cast<double>(all);
  }
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
    sum.by_basis[op.cycle_basis] += *op.cycles;
  }
  return sum;
}

/// Returns the cycles of each call of the core; nothing for delegates and calls without an
/// estimate.
std::vector<std::optional<int64_t>> core_cycles_of_calls(const engine::Lowered& lowered,
                                                         std::span<const RowOp> rows,
                                                         const CompileReport& report) {
  std::vector<std::optional<int64_t>> cycles(lowered.calls.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (lowered.calls[rows[i].call].delegate < 0) cycles[rows[i].call] = report.ops[i].cycles;
  }
  return cycles;
}

/// Adds a note for each kind of cycles that are not kMeasured. Returns
/// their share of the core's cycles, in percent.
double add_basis_notes(const CoreCycles& cycles, const engine::Core& core, CompileReport* report) {
  using engine::CycleBasis;
  constexpr double kPercentMin = 1;
  double sum = 0;
  const auto add = [&](CycleBasis basis, const std::string& what) {
    const double percent = cycles.percent_of(basis);
    sum += percent;
    if (percent < kPercentMin) return;
    report->notes.push_back(fmt::format("{:.0f} % of the core's cycles are of {}", percent, what));
  };
  add(CycleBasis::kAverage,
      fmt::format("operators that were not measured on {}: they count as average operators of "
                  "their size",
                  core.name));
  add(CycleBasis::kInstructions,
      fmt::format("operators of which only the instructions were measured: times the cycles per "
                  "instruction of other operators on {}",
                  core.name));
  add(CycleBasis::kInaccurate,
      fmt::format("operators whose estimate is more than {} % off on average, or which are larger "
                  "than all that were measured",
                  engine::kInaccuratePercent));
  return sum;
}

/// Returns the time of each delegate call.
std::vector<std::optional<double>> npu_times_us(const engine::Lowered& lowered) {
  std::vector<std::optional<double>> times;
  for (const engine::Delegate& delegate : lowered.delegates) {
    times.emplace_back();
    if (!delegate.cycles) continue;
    times.back() =
        npu_call_us({delegate.clock_mhz, delegate.call_us}, static_cast<double>(*delegate.cycles));
  }
  return times;
}

}  // namespace

std::optional<double> npu_call_us(const engine::NpuTiming& timing, double cycles) {
  if (timing.clock_mhz <= 0) return std::nullopt;
  return timing.call_us + cycles / timing.clock_mhz;
}

std::optional<double> run_time_us(int64_t core_cycles, double core_mhz,
                                  std::span<const std::optional<double>> npu_calls_us) {
  if (core_mhz <= 0 && core_cycles > 0) return std::nullopt;
  double time_us = core_cycles > 0 ? static_cast<double>(core_cycles) / core_mhz : 0;
  for (const std::optional<double>& call_us : npu_calls_us) {
    if (!call_us) return std::nullopt;
    time_us += *call_us;
  }
  return time_us;
}

int64_t call_wait_cycles(const engine::Lowered& lowered, const engine::KernelCall& call,
                         size_t instruction, const engine::Core& core,
                         const OperandMemories& memories, int64_t cycles) {
  return std::llround(
      wait_cycles(lowered, call, instruction, core, memories) +
      code_wait_cycles(memories.code_of_kernels(), core, static_cast<double>(cycles)));
}

std::optional<int64_t> runtime_cycles(const engine::RuntimeWork& work, const engine::Core& core,
                                      const OperandMemories& memories) {
  if (core.runtime_cycles == nullptr) return std::nullopt;
  const std::optional<int64_t> cycles = core.runtime_cycles(work, core);
  if (!cycles) return std::nullopt;
  return *cycles +
         std::llround(code_wait_cycles(memories.code, core, static_cast<double>(*cycles)));
}

bool has_time_band(const engine::Core& core, const MissingWaits& missing, bool has_npu,
                   double marked_percent) {
  return missing.memories.empty() && !has_npu && marked_percent <= kMarkedPercentMax &&
         core.has_time_band;
}

void report_time(const engine::Lowered& lowered, const engine::Part& part,
                 std::span<const RowOp> rows, const OperandMemories& memories,
                 CompileReport* report) {
  add_waits(lowered, *part.cpu, rows, memories, report);
  fill_times(lowered, part.clock_mhz, rows, report);
  report->clock_mhz = part.clock_mhz;
  std::optional<CoreCycles> core = sum_core_cycles(lowered, rows, *report);
  if (!core) return;
  core->all += report->runtime_cycles.value_or(0);
  report->cycles = core->all;
  const double core_percent = add_basis_notes(*core, *part.cpu, report);
  report_overlaps(lowered, part.clock_mhz, core_cycles_of_calls(lowered, rows, *report), report);
  report->time_us = run_time_us(core->all, part.clock_mhz, npu_times_us(lowered));
  if (!report->time_us) return;
  *report->time_us -= overlap_saved_us(*report);
  const double core_us = static_cast<double>(core->all) / part.clock_mhz;
  report->marked_percent = core_percent * core_us / *report->time_us;
  MissingWaits missing = missing_waits(part, memories);
  if (has_time_band(*part.cpu, missing, !lowered.delegates.empty(), report->marked_percent)) {
    report->time_error_percent = kTimeErrorPercent;
  }
  report->memories_without_waits = std::move(missing.memories);
  std::ranges::move(missing.notes, std::back_inserter(report->notes));
  if (part.ua_per_mhz && part.supply_volts && lowered.delegates.empty()) {
    // uA * V * us = pJ
    report->energy_uj =
        *part.ua_per_mhz * part.clock_mhz * *part.supply_volts * *report->time_us * 1e-6;
  }
}

}  // namespace thimble::driver
