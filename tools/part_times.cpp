#include "tools/part_times.h"

#include <algorithm>

#include "driver/npu_cycles.h"
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
  // program_facts() refuses a file for another core than the part's, which runs here with a note
  // (tools/model.h) but has no estimate of its wait states. The file itself was read before.
  const Result<ProgramFacts> facts = program_facts(pte, label, &part);
  if (!facts) return times;
  times.waits_known = facts->waits_known;
  for (const CallFacts& call : facts->calls) times.wait_cycles.push_back(call.wait_cycles);
  times.runtime_wait_cycles = facts->runtime_wait_cycles;
  return times;
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
