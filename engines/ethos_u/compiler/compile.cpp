// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/compile.h"

#include <cmath>

#include "engines/ethos_u/compiler/emit.h"
#include "engines/ethos_u/compiler/payload.h"
#include "engines/ethos_u/compiler/schedule.h"
#include "engines/ethos_u/compiler/stage_inputs.h"

namespace thimble::engine::ethos_u {
namespace {

NpuBlob::Io io_of(const NpuProgram& program, const Schedule& schedule, int tensor) {
  const NpuTensor& from = program.tensors[static_cast<size_t>(tensor)];
  const TensorPlace& place = schedule.tensors[static_cast<size_t>(tensor)];
  NpuBlob::Io io;
  io.shape = {1, from.shape.h, from.shape.w, from.shape.c};
  io.elem_bytes = from.element.bits / 8;
  io.offset = place.address;
  io.region = place.region;
  return io;
}

/// Returns one row per operation of the program. Cycles of an input copy are added to the row of
/// its first reader.
std::vector<OpReport> report_of(const NpuProgram& program, const Scheduled& scheduled,
                                const Emitted& emitted) {
  std::vector<OpReport> rows;
  int64_t staging = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].stages_input) {
      staging += scheduled.op_cycles[i];
      continue;
    }
    OpReport row;
    row.op = static_cast<int>(rows.size());
    row.ir_op = program.ops[i].ir_op;
    row.cascade = scheduled.schedule.ops[i].cascade;
    row.cycles = scheduled.op_cycles[i] + staging;
    row.words = emitted.words_of_op[i];
    staging = 0;
    rows.push_back(row);
  }
  return rows;
}

NpuProgram prepared(const NpuProgram& program, const ScheduleOptions& options) {
  return options.mode == MemoryMode::kDedicatedSram ? stage_inputs(program) : program;
}

ScheduleOptions resolve_options(const NpuProgram& program, ScheduleOptions options) {
  if (options.system == nullptr) {
    options.system = thimble::ethos_u::default_system(program.config->generation);
  }
  return options;
}

}  // namespace

Result<std::vector<ParetoPoint>> pareto(const NpuProgram& given, const ScheduleOptions& options) {
  const NpuProgram program = prepared(given, options);
  Encoders encoders(program);
  return schedule_curve(program, resolve_options(program, options), &encoders);
}

Result<NpuBlob> compile(const NpuProgram& given, const ScheduleOptions& options) {
  const NpuProgram program = prepared(given, options);
  const ScheduleOptions settled = resolve_options(program, options);
  Encoders encoders(program);
  THIMBLE_TRY(const Scheduled scheduled, make_schedule(program, settled, &encoders));
  const Schedule& schedule = scheduled.schedule;
  NpuBlob blob;
  THIMBLE_TRY(const Emitted emitted, emit(program, schedule));
  THIMBLE_TRY(blob.commands, payload(*program.config, emitted.words));
  blob.weights = schedule.constants;
  blob.scratch_bytes = schedule.arena_bytes;
  blob.fast_scratch_bytes = schedule.fast_bytes;
  for (const int tensor : program.inputs) blob.inputs.push_back(io_of(program, schedule, tensor));
  for (const int tensor : program.outputs) {
    blob.outputs.push_back(io_of(program, schedule, tensor));
  }
  blob.cycles = scheduled.cycles;
  blob.timeline_cycles = static_cast<int64_t>(std::llround(scheduled.timeline_cycles));
  blob.smallest = scheduled.smallest;
  blob.fastest = scheduled.fastest;
  blob.report = report_of(program, scheduled, emitted);
  return blob;
}

}  // namespace thimble::engine::ethos_u
