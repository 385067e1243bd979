// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles and times of a run on an emulated board: of each operator, of calls that run while an NPU
// works, and of one inference.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/model.h"

namespace thimble::tools {

/// Instructions of the simulators that replace NPUs on the board, in all calls. 0 if they are not
/// known, because only a profile counts them.
[[nodiscard]] int64_t simulator_instructions(const Outcome& outcome);
/// Cycles of the NPUs in one inference; nullopt if there are none or one has no estimate.
[[nodiscard]] std::optional<int64_t> npu_cycles(const Outcome& outcome);

/// Calls of the core that run while an NPU works, in one inference.
struct RunOverlap {
  std::string npu;
  size_t call = 0, calls = 0;           // the delegate's, and the number of calls after it
  std::optional<int64_t> npu_cycles;    // of the delegate
  std::optional<int64_t> core_cycles;   // of the calls
  std::optional<int64_t> saved_cycles;  // of the core; without clocks, of an NPU with its clock
  std::optional<double> saved_us;
};

/// Cycles of the core and times of one inference, with the clocks and wait states of the part of
/// --target.
struct RunTimes {
  std::vector<std::optional<int64_t>> cycles;  // by operator: of the core in all calls, or the NPU
  std::vector<std::optional<double>> us;       // by operator, of one call
  std::optional<int64_t> core_cycles;          // of the inference, in all calls
  std::optional<double> total_us;
  std::vector<RunOverlap> overlaps;
};

/// `outcome` is that of an emulated board.
[[nodiscard]] RunTimes times_of(const Outcome& outcome, const PartTimes& part);

}  // namespace thimble::tools
