// SPDX-License-Identifier: Apache-2.0
#include "tools/part_times.h"

#include <algorithm>

#include "driver/missing_waits.h"
#include "driver/npu_cycles.h"
#include "driver/run_time.h"
#include "tools/program_facts.h"

namespace thimble::tools {

std::optional<double> PartTimes::core_us(int64_t cycles) const {
  if (core_mhz <= 0) return std::nullopt;
  return static_cast<double>(cycles) / core_mhz;
}

std::optional<double> PartTimes::npu_us(size_t delegate, double cycles) const {
  const auto npu = npus.find(delegate);
  if (npu == npus.end() || npu->second.clock_mhz <= 0) return std::nullopt;
  return cycles / npu->second.clock_mhz;
}

Result<PartTimes> part_times(const Bytes& pte, const formats::pte::Program& program,
                             const std::string& label, const std::string& target) {
  PartTimes times;
  if (target.empty()) {
    THIMBLE_TRY(times.profiles, hostrun::profiles_of(program, label));
    return times;
  }
  THIMBLE_TRY(const engine::Part part, engine::find_part(target));
  times.part = part.name;
  times.core_mhz = part.clock_mhz;
  THIMBLE_TRY(times.profiles, hostrun::profiles_of(program, label, driver::npu_systems(part)));
  for (const hostrun::NpuProfile& profile : times.profiles) {
    const engine::PartNpu* const use = driver::npu_of(part, profile);
    if (use == nullptr || use->engine->timing == nullptr) continue;
    times.npus[profile.delegate] = use->engine->timing(*use);
  }
  // A file for another core runs here with a note (tools/model.h). Its wait states follow from its
  // kernels, if the part's core has their instructions. The file itself was read before.
  const Result<ProgramFacts> facts =
      program_facts(pte, label, &part, PartCore::kWithItsInstructions);
  if (!facts) {
    times.no_waits = facts.error().message;
    return times;
  }
  times.memories_without_waits = facts->memories_without_waits;
  if (facts->has_time_band) times.error_percent = driver::kTimeErrorPercent;
  for (const CallFacts& call : facts->calls) times.wait_cycles.push_back(call.wait_cycles);
  times.runtime_wait_cycles = facts->runtime_wait_cycles;
  return times;
}

std::string waits_text(const PartTimes& times) {
  const bool has_some =
      times.runtime_wait_cycles != 0 ||
      std::ranges::any_of(times.wait_cycles, [](int64_t cycles) { return cycles != 0; });
  const bool has_all =
      !times.part.empty() && times.no_waits.empty() && times.memories_without_waits.empty();
  if (has_all) return fmt::format("with wait states of {}", times.part);
  return has_some ? fmt::format("with the wait states that the file of {} states", times.part)
                  : "without wait states";
}

std::string no_waits_text(const PartTimes& times) {
  if (!times.no_waits.empty()) return "the time has no wait states: " + times.no_waits;
  if (times.memories_without_waits.empty()) return "";
  return fmt::format("the time lacks {}: the file of {} does not state what they depend on",
                     driver::missing_waits_text(times.memories_without_waits), times.part);
}

std::string no_times_line(const PartTimes& times) {
  if (times.part.empty()) {
    return "  no times: the file names a core, but no part: --target PART gives clocks and wait "
           "states\n";
  }
  const bool any_npu =
      std::ranges::any_of(times.npus, [](const auto& npu) { return npu.second.clock_mhz > 0; });
  if (times.core_mhz > 0 || any_npu) return "";
  return fmt::format("  no times: the clock of {} is not known: `thimble targets` lists parts\n",
                     times.part);
}

}  // namespace thimble::tools
