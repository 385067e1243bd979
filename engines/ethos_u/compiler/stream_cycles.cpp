// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/stream_cycles.h"

#include <cassert>

#include "engines/ethos_u/compiler/emit.h"
#include "engines/ethos_u/sim/timeline.h"

namespace thimble::engine::ethos_u {

Result<double> stream_cycles(const NpuProgram& program, const Schedule& schedule,
                             const ScheduleOptions& options) {
  THIMBLE_TRY(const Emitted emitted, emit(program, schedule));
  thimble::ethos_u::sim::TimelineJob job;
  job.config = program.config;
  job.system = options.system;
  job.mode = options.mode;
  job.words = emitted.words.data();
  job.word_count = static_cast<uint32_t>(emitted.words.size());
  thimble::ethos_u::sim::Timeline timeline;
  const thimble::ethos_u::sim::Fault fault = make_timeline(job, &timeline);
  assert(fault.none() && "the simulator decodes every stream that the compiler emits");
  (void)fault;
  return timeline.cycles;
}

}  // namespace thimble::engine::ethos_u
