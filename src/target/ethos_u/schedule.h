#pragma once
// Which blocks, formats, stripes and buffers: the decisions, by cost and under a budget.

#include "base/result.h"
#include "target/ethos_u/compile.h"
#include "target/ethos_u/draft.h"

namespace thimble::target::ethos_u {

struct Scheduled {
  Schedule schedule;
  int64_t cycles = 0;
  std::vector<int64_t> op_cycles;
};

/// Every operation after the other as a whole, weights read where they lie.
[[nodiscard]] Result<Scheduled> schedule_simply(const NpuProgram& program,
                                                const ScheduleOptions& options,
                                                Encoders* encoders);

}  // namespace thimble::target::ethos_u
