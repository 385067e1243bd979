// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cycles of a schedule on the simulator's timeline, the estimate that users see. The search uses
// the faster model of cost.h, which differs by a few percent; exact schedules are compared with
// this one.

#include "base/result.h"
#include "engines/ethos_u/compiler/compile.h"
#include "engines/ethos_u/compiler/plan.h"

namespace thimble::engine::ethos_u {

[[nodiscard]] Result<double> stream_cycles(const NpuProgram& program, const Schedule& schedule,
                                           const ScheduleOptions& options);

}  // namespace thimble::engine::ethos_u
