#pragma once
// Which blocks, formats, stripes and buffers: the decisions, by cost and under a budget.

#include "base/result.h"
#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/draft.h"

namespace thimble::engine::ethos_u {

struct Scheduled {
  Schedule schedule;
  int64_t cycles = 0;
  std::vector<int64_t> op_cycles;
};

/// The best schedule by the options. A budget that nothing fits is refused with the smallest that
/// something fits. `options.system` is set.
[[nodiscard]] Result<Scheduled> make_schedule(const NpuProgram& program,
                                              const ScheduleOptions& options, Encoders* encoders);

/// Schedules over the budgets that make a difference, without those that others beat.
[[nodiscard]] Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                              const ScheduleOptions& options,
                                                              Encoders* encoders);

}  // namespace thimble::engine::ethos_u
