// SPDX-License-Identifier: Apache-2.0
#include "driver/overlap.h"

#include <algorithm>
#include <cmath>

#include "driver/engines.h"
#include "driver/run_time.h"
#include "memory/delegate_overlap.h"
#include "memory/shared_arena.h"

namespace thimble::driver {
namespace {

/// True if the cycles of the core and of this delegate can be compared in microseconds.
bool has_clocks(const engine::Delegate& delegate, double core_mhz) {
  return core_mhz > 0 && delegate.clock_mhz > 0;
}

/// Times of all calls: in microseconds if all clocks are known, else in cycles, as if the NPUs had
/// the core's clock. Nothing for a call without an estimate.
std::vector<std::optional<double>> call_times(const engine::Lowered& lowered, double core_mhz,
                                              std::span<const std::optional<int64_t>> core_cycles) {
  const bool in_us = std::ranges::all_of(lowered.delegates, [&](const engine::Delegate& delegate) {
    return has_clocks(delegate, core_mhz);
  });
  std::vector<std::optional<double>> times;
  for (size_t i = 0; i < lowered.calls.size(); ++i) {
    std::optional<double>& time = times.emplace_back();
    const int row = lowered.calls[i].delegate;
    if (row < 0) {
      if (core_cycles[i]) time = static_cast<double>(*core_cycles[i]) / (in_us ? core_mhz : 1);
      continue;
    }
    const engine::Delegate& delegate = lowered.delegates[static_cast<size_t>(row)];
    if (!delegate.cycles) continue;
    const auto cycles = static_cast<double>(*delegate.cycles);
    time = in_us ? npu_call_us({delegate.clock_mhz, delegate.call_us}, cycles) : cycles;
  }
  return times;
}

}  // namespace

int64_t overlap_calls(const engine::Part& part, const OverlapLimits& limits,
                      engine::Lowered* lowered, memory::MemoryPlan* memory_plan) {
  const bool any = std::ranges::any_of(lowered->delegates, &engine::Delegate::runs_in_background);
  if (!any || part.cpu->cost == nullptr) return 0;
  std::vector<std::optional<int64_t>> core_cycles;
  for (const engine::KernelCall& call : lowered->calls) {
    core_cycles.emplace_back();
    if (call.delegate < 0) core_cycles.back() = part.cpu->cost(*lowered, call, *part.cpu).cycles;
  }
  memory::OverlapOptions options;
  for (const std::optional<double>& time : call_times(*lowered, part.clock_mhz, core_cycles)) {
    options.call_times.push_back(time.value_or(0));
  }
  options.smallest = limits.smallest;
  // With a dedicated SRAM, the arena is in DRAM.
  if (limits.sram_bytes && !uses_dedicated_sram(*lowered)) {
    options.fits = [&](const memory::MemoryPlan& plan) {
      return plan.placement.peak_bytes + memory::runtime_bytes(*lowered, plan) +
                 constant_bytes(lowered->delegates, abi::MemoryMode::kSramOnly) <=
             *limits.sram_bytes;
    };
  }
  const int64_t before = memory_plan->placement.peak_bytes;
  (void)memory::overlap_delegates(std::move(options), lowered, memory_plan);
  return memory_plan->placement.peak_bytes - before;
}

std::optional<double> overlap_time(std::span<const std::optional<double>> times, size_t at,
                                   size_t calls) {
  double others = 0;
  for (size_t i = at; i <= at + calls; ++i) {
    if (!times[i]) return std::nullopt;
    if (i != at) others += *times[i];
  }
  return std::min(*times[at], others);
}

void report_overlaps(const engine::Lowered& lowered, double core_mhz,
                     std::span<const std::optional<int64_t>> core_cycles, CompileReport* report) {
  const std::vector<std::optional<double>> times = call_times(lowered, core_mhz, core_cycles);
  report->overlaps.clear();
  for (size_t i = 0; i < lowered.calls.size(); ++i) {
    const engine::KernelCall& call = lowered.calls[i];
    if (call.overlap == 0) continue;
    const engine::Delegate& delegate = lowered.delegates[static_cast<size_t>(call.delegate)];
    OverlapReport overlap;
    overlap.engine = delegate.engine;
    overlap.delegate = call.delegate;
    overlap.calls = call.overlap;
    overlap.npu_cycles = delegate.cycles;
    overlap.core_cycles = 0;
    for (size_t k = i + 1; k <= i + static_cast<size_t>(call.overlap); ++k) {
      if (lowered.calls[k].delegate < 0) overlap.core_cycles += core_cycles[k].value_or(0);
    }
    const std::optional<double> saved = overlap_time(times, i, static_cast<size_t>(call.overlap));
    if (saved && has_clocks(delegate, core_mhz)) {
      overlap.saved_us = saved;
      overlap.saved_cycles = std::llround(*saved * core_mhz);
    } else if (saved) {
      overlap.saved_cycles = std::llround(*saved);
    }
    report->overlaps.push_back(overlap);
  }
}

double overlap_saved_us(const CompileReport& report) {
  double sum = 0;
  for (const OverlapReport& overlap : report.overlaps) sum += overlap.saved_us.value_or(0);
  return sum;
}

}  // namespace thimble::driver
