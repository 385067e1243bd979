// SPDX-License-Identifier: Apache-2.0
#include "cycles/core_timing.h"

#include <algorithm>

namespace thimble::cycles {
namespace {

enum class Model : uint8_t { kSequential, kScoreboard };

struct Row {
  std::string_view name;  // engine::Core::timing
  Model model;
  std::string_view table;  // of sequential.def or scoreboard.def
  ControlFlow control_flow;
};

// Refill cycles. M0: B takes 3 cycles if taken (DDI 0432C 3.3), M0+ 2 (DDI 0484C 3.3). M3, M4: 1 +
// P with P from 1 to 3, "depending on the alignment and width of the target instruction, and
// whether the processor manages to speculate the address early" (DDI 0439D 3.3.1): 2, and 3 for a
// 32-bit target that is not aligned to 4 bytes. M55: LLVM's MispredictPenalty is 3 for a core
// without prediction; 2 follow the cycle of the branch. M7, M85: a wrong prediction costs 6 and 7
// cycles (ARMScheduleM7.td, ARMScheduleM85.td). keep-sorted
constexpr Row kRows[] = {
    {"m0", Model::kSequential, "m0plus", {.refill = 2}},
    {"m0plus", Model::kSequential, "m0plus", {.refill = 1}},
    {"m3", Model::kSequential, "m3", {.refill = 2, .wide_target = 1, .folds_it = true}},
    {"m4", Model::kSequential, "m4", {.refill = 2, .wide_target = 1, .folds_it = true}},
    {"m55", Model::kScoreboard, "m55", {.refill = 2}},
    {"m7", Model::kScoreboard, "m7", {.refill = 6, .predicts = true}},
    {"m85", Model::kScoreboard, "m85", {.refill = 7, .predicts = true}},
};

}  // namespace

const CoreTiming* core_timing(std::string_view name) {
  static const std::vector<std::unique_ptr<CoreTiming>> kTimings = [] {
    std::vector<std::unique_ptr<CoreTiming>> timings;
    for (const Row& each : kRows) {
      timings.push_back(each.model == Model::kSequential
                            ? sequential_timing(each.table, each.control_flow)
                            : scoreboard_timing(each.table, each.control_flow));
    }
    return timings;
  }();
  const auto* const row = std::ranges::find(kRows, name, &Row::name);
  return row == std::end(kRows) ? nullptr : kTimings[static_cast<size_t>(row - kRows)].get();
}

}  // namespace thimble::cycles
