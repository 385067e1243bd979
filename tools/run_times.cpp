// SPDX-License-Identifier: Apache-2.0
#include "tools/run_times.h"

#include <cmath>
#include <span>

#include "driver/overlap.h"

namespace thimble::tools {
namespace {

/// Cycles of the core in all calls, without those of the simulators that replace NPUs on the board.
/// nullopt if the simulators run in the image and their part of it is not known.
std::optional<int64_t> core_cycles(const Outcome& outcome) {
  const hostrun::QemuFacts& facts = *outcome.qemu;
  if (!facts.cycles || (outcome.npu_simulated && outcome.npu_calls.empty())) return std::nullopt;
  int64_t sum = *facts.cycles;
  for (const auto& [index, call] : outcome.npu_calls) {
    if (!facts.ops[index].cycles) return std::nullopt;
    sum -= *facts.ops[index].cycles;
  }
  return sum;
}

/// Returns the overlaps of one inference. `cycles` and `us`: of each operator in one inference.
std::vector<RunOverlap> overlaps_of(const Outcome& outcome,
                                    std::span<const std::optional<double>> cycles,
                                    std::span<const std::optional<double>> us, double core_mhz) {
  std::vector<RunOverlap> overlaps;
  for (const formats::pte::DelegateOverlap& from : outcome.overlaps) {
    RunOverlap& overlap = overlaps.emplace_back();
    const NpuCall& npu = outcome.npu_calls.at(from.call);
    overlap.npu = npu.npu;
    overlap.call = from.call;
    overlap.calls = from.calls;
    overlap.npu_cycles = npu.cycles;
    double core = 0;
    bool is_known = true;
    for (size_t i = from.call + 1; i <= from.call + from.calls; ++i) {
      if (outcome.npu_calls.contains(i)) continue;
      is_known = is_known && cycles[i];
      core += cycles[i].value_or(0);
    }
    if (is_known) overlap.core_cycles = std::llround(core);
    overlap.saved_us = driver::overlap_time(us, from.call, from.calls);
    const std::optional<double> saved = overlap.saved_us
                                            ? std::optional(*overlap.saved_us * core_mhz)
                                            : driver::overlap_time(cycles, from.call, from.calls);
    if (saved) overlap.saved_cycles = std::llround(*saved);
  }
  return overlaps;
}

}  // namespace

int64_t simulator_instructions(const Outcome& outcome) {
  int64_t sum = 0;
  for (const auto& [index, call] : outcome.npu_calls) sum += outcome.qemu->ops[index].instructions;
  return sum;
}

std::optional<int64_t> npu_cycles(const Outcome& outcome) {
  if (outcome.npu_calls.empty()) return std::nullopt;
  int64_t sum = 0;
  for (const auto& [index, call] : outcome.npu_calls) {
    if (!call.cycles) return std::nullopt;
    sum += *call.cycles;
  }
  return sum;
}

RunTimes times_of(const Outcome& outcome, const PartTimes& part) {
  const hostrun::QemuFacts& facts = *outcome.qemu;
  const auto calls = static_cast<int64_t>(outcome.outputs.size());
  RunTimes times;
  int64_t waits = calls * part.runtime_wait_cycles;
  std::optional<double> npu_us = 0;
  for (size_t i = 0; i < facts.ops.size(); ++i) {
    const auto call = outcome.npu_calls.find(i);
    std::optional<double> us;
    if (call != outcome.npu_calls.end()) {
      times.cycles.push_back(call->second.cycles);
      const auto timing = part.npus.find(call->second.delegate);
      if (call->second.cycles) {
        us = part.npu_us(call->second.delegate, static_cast<double>(*call->second.cycles));
      }
      npu_us = npu_us && us ? std::optional(*npu_us + *us + timing->second.call_us) : std::nullopt;
    } else {
      std::optional<int64_t> cycles = facts.ops[i].cycles;
      if (cycles) *cycles += calls * part.waits_of(i);
      waits += calls * part.waits_of(i);
      times.cycles.push_back(cycles);
      if (cycles) us = part.core_us(*cycles / calls);
    }
    times.us.push_back(us);
  }
  std::vector<std::optional<double>> call_cycles, call_us;
  for (size_t i = 0; i < facts.ops.size(); ++i) {
    const auto call = outcome.npu_calls.find(i);
    const bool is_npu = call != outcome.npu_calls.end();
    const std::optional<int64_t> cycles = times.cycles[i];
    call_cycles.emplace_back();
    if (cycles) call_cycles.back() = static_cast<double>(is_npu ? *cycles : *cycles / calls);
    call_us.push_back(times.us[i]);
    if (is_npu && times.us[i]) *call_us.back() += part.npus.at(call->second.delegate).call_us;
  }
  times.overlaps = overlaps_of(outcome, call_cycles, call_us, part.core_mhz);
  times.core_cycles = core_cycles(outcome);
  if (times.core_cycles) *times.core_cycles += waits;
  if (times.core_cycles && npu_us) {
    const std::optional<double> core = part.core_us(*times.core_cycles / calls);
    if (core) times.total_us = *core + *npu_us;
    for (const RunOverlap& overlap : times.overlaps) {
      if (times.total_us) *times.total_us -= overlap.saved_us.value_or(0);
    }
  }
  return times;
}

}  // namespace thimble::tools
