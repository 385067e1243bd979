// SPDX-License-Identifier: Apache-2.0
#pragma once
// Data of a part for times of a profile in milliseconds: clocks, wait states, systems of the
// NPUs. A file names its core only, so that the part is that of --target.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "engine/part.h"
#include "formats/pte/program.h"
#include "hostrun/npu_profile.h"

namespace thimble::tools {

struct PartTimes {
  std::string part;                                 // empty: no --target
  double core_mhz = 0;                              // 0: unknown
  std::vector<int64_t> wait_cycles;                 // by instruction of the file; empty: not known
  int64_t runtime_wait_cycles = 0;                  // in one run, outside of kernels
  std::vector<std::string> memories_without_waits;  // the part's file does not state their waits
  std::string no_waits;      // why the times have no wait states at all; empty: they have some
  double error_percent = 0;  // half of the error band of the time; 0: it has none
  std::map<size_t, engine::NpuTiming> npus;   // by delegate
  std::vector<hostrun::NpuProfile> profiles;  // of the delegates, for the systems of the part

  [[nodiscard]] int64_t waits_of(size_t instruction) const {
    return instruction < wait_cycles.size() ? wait_cycles[instruction] : 0;
  }
  /// Time on the core; nullopt if its clock is not known.
  [[nodiscard]] std::optional<double> core_us(int64_t cycles) const;
  /// Time on the delegate's NPU without the overhead of the call; nullopt if not known.
  [[nodiscard]] std::optional<double> npu_us(size_t delegate, double cycles) const;
};

/// `target`: value of --target, may be empty.
[[nodiscard]] Result<PartTimes> part_times(const Bytes& pte, const formats::pte::Program& program,
                                           const std::string& label, const std::string& target);

/// Says which wait states the cycles have: "without wait states", "with wait states of PART".
[[nodiscard]] std::string waits_text(const PartTimes& times);

/// Says which wait states the time lacks, and why; empty if it has all, or without a part.
[[nodiscard]] std::string no_waits_text(const PartTimes& times);

/// One line that says how to get times, if they are not known; empty if they are.
[[nodiscard]] std::string no_times_line(const PartTimes& times);

}  // namespace thimble::tools
