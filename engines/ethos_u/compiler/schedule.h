// SPDX-License-Identifier: Apache-2.0
#pragma once
// The scheduler: chooses blocks, formats, cascades and buffers by cost, within a memory budget.
//
// point_finder.h finds many schedules by estimates. Those whose estimates are close to the fewest
// cycles get encoded weights and a command stream, whose cycles the simulator's timeline counts.
// The selection uses only these cycles:
//   a budget          the fewest cycles; more memory never gives more cycles
//   no budget         the least SRAM of the schedules that are at most 2 % slower than the fastest
//   Optimise::kSize   the same with a larger ratio
// In Dedicated_Sram a cost is compared among the schedules that these rules allow: the cycles plus
// the estimated traffic of the DRAM. A schedule may be 5 % slower than the fastest if that reduces
// the traffic.

#include <string>

#include "base/result.h"
#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/draft.h"

namespace thimble::engine::ethos_u {

struct Scheduled {
  Schedule schedule;
  int64_t cycles = 0;          // estimate of the search
  double traffic = 0;          // estimated cost of accesses to the DRAM, in cycles
  double timeline_cycles = 0;  // of the stream
  int64_t bytes = 0;           // that count against the budget
  std::vector<int64_t> op_cycles;
  /// The least SRAM and the fewest cycles of all schedules in the available memory, with the cycles
  /// of their streams.
  ParetoPoint smallest, fastest;
};

/// Describes the schedule without a budget, after its bytes of SRAM.
[[nodiscard]] std::string default_rule(const ScheduleOptions& options);

/// Returns the best schedule for the options. If no schedule fits the budget, the error names the
/// smallest sufficient budget. `options.system` must be set.
[[nodiscard]] Result<Scheduled> make_schedule(const NpuProgram& program,
                                              const ScheduleOptions& options, Encoders* encoders);

/// Returns the Pareto-optimal schedules of SRAM and cycles.
[[nodiscard]] Result<std::vector<ParetoPoint>> schedule_curve(const NpuProgram& program,
                                                              const ScheduleOptions& options,
                                                              Encoders* encoders);

}  // namespace thimble::engine::ethos_u
