#include "cycles/core_timing.h"

#include <algorithm>

namespace thimble::cycles {
namespace {

struct Core {
  std::string_view name;
  bool sequential;
  std::string_view table;
  ControlFlow control_flow;
};

// Refill cycles. M0: B takes 3 cycles if taken (DDI 0432C 3.3), M0+ 2 (DDI 0484C 3.3). M3, M4: 1 +
// P with P from 1 to 3, "depending on the alignment and width of the target instruction, and
// whether the processor manages to speculate the address early" (DDI 0439D 3.3.1): 2, and 3 for a
// 32-bit target that is not aligned to 4 bytes. M55: LLVM's MispredictPenalty is 3 for a core
// without prediction; 2 follow the cycle of the branch. M7, M85: a wrong prediction costs 6 and 7
// cycles (ARMScheduleM7.td, ARMScheduleM85.td). keep-sorted
constexpr Core kCores[] = {
    {"cortex-m0", true, "m0plus", {2, 0, false, false}},
    {"cortex-m0plus", true, "m0plus", {1, 0, false, false}},
    {"cortex-m23", true, "m0plus", {1, 0, false, false}},
    {"cortex-m3", true, "m3", {2, 1, false, true}},
    {"cortex-m33", true, "m4", {2, 1, false, true}},
    {"cortex-m35p", true, "m4", {2, 1, false, true}},
    {"cortex-m4", true, "m4", {2, 1, false, true}},
    {"cortex-m55", false, "m55", {2, 0, false, false}},
    {"cortex-m7", false, "m7", {6, 0, true, false}},
    {"cortex-m85", false, "m85", {7, 0, true, false}},
};

}  // namespace

const CoreTiming* core_timing(std::string_view core) {
  static const std::vector<std::unique_ptr<CoreTiming>> kTimings = [] {
    std::vector<std::unique_ptr<CoreTiming>> timings;
    for (const Core& each : kCores) {
      timings.push_back(each.sequential ? sequential_timing(each.table, each.control_flow)
                                        : scoreboard_timing(each.table, each.control_flow));
    }
    return timings;
  }();
  const auto* const row = std::ranges::find(kCores, core, &Core::name);
  return row == std::end(kCores) ? nullptr : kTimings[static_cast<size_t>(row - kCores)].get();
}

}  // namespace thimble::cycles
