#pragma once
// The scheduler: chooses blocks, formats, cascades and buffers by cost, within a memory budget.

#include <string_view>

#include "base/result.h"
#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/draft.h"

namespace thimble::engine::ethos_u {

struct Scheduled {
  Schedule schedule;
  int64_t cycles = 0;          // estimate of the search
  double timeline_cycles = 0;  // of the exact stream, if it was compared with others
  int64_t bytes = 0;           // that count against the budget
  std::vector<int64_t> op_cycles;
  ParetoPoint smallest, fastest;  // ends of schedule_curve()
};

/// Describes the schedule without a budget, after its bytes of SRAM.
[[nodiscard]] inline std::string_view default_rule(const ScheduleOptions& options) {
  return options.compares_in_memory()
             ? "at most 2 % slower than the fastest schedule in the SRAM of the part"
             : "at most 2 % slower than the fastest schedule in the SRAM that whole feature maps "
               "need";
}

/// Returns the best schedule for the options. If no schedule fits the budget, the error names the
/// smallest sufficient budget. `options.system` must be set.
[[nodiscard]] Result<Scheduled> make_schedule(const NpuProgram& program,
                                              const ScheduleOptions& options, Encoders* encoders);

/// Returns the Pareto-optimal schedules of SRAM and cycles.
[[nodiscard]] Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                              const ScheduleOptions& options,
                                                              Encoders* encoders);

}  // namespace thimble::engine::ethos_u
