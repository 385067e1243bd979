#include "engines/ethos_u/compiler/compile.h"

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
std::vector<OpReport> report_of(const NpuProgram& program, const Scheduled& scheduled) {
  std::vector<int64_t> stripes(program.ops.size(), 0);
  for (const Step& step : scheduled.schedule.steps) {
    const bool runs = step.kind != Step::Kind::kWeightDma && step.slice == 0;
    if (runs) ++stripes[static_cast<size_t>(step.op)];
  }
  std::vector<OpReport> rows;
  int64_t staging = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    if (program.ops[i].stages_input) {
      staging += scheduled.op_cycles[i];
      continue;
    }
    const OpPlan& plan = scheduled.schedule.ops[i];
    OpReport row;
    row.op = static_cast<int>(rows.size());
    row.ir_op = program.ops[i].ir_op;
    row.block_height = plan.block.h;
    row.block_width = plan.block.w;
    row.block_depth = plan.block.d;
    row.part_kernel_first = plan.block.part_kernel_first;
    row.cascade = plan.cascade;
    row.slices = std::max<int64_t>(1, static_cast<int64_t>(plan.weights.slices.size()));
    for (const SlicePlan& slice : plan.weights.slices) row.weight_bytes += slice.bytes;
    row.weights_buffered = !plan.weights.address.empty() && plan.weights.address[0] >= 0;
    row.cycles = scheduled.op_cycles[i] + staging;
    row.stripes = stripes[i];
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
  THIMBLE_TRY(const std::vector<uint32_t> words, emit(program, schedule));
  THIMBLE_TRY(blob.commands, payload(*program.config, words));
  blob.weights = schedule.constants;
  blob.scratch_bytes = schedule.arena_bytes;
  blob.fast_scratch_bytes = schedule.fast_bytes;
  for (const int tensor : program.inputs) blob.inputs.push_back(io_of(program, schedule, tensor));
  for (const int tensor : program.outputs) {
    blob.outputs.push_back(io_of(program, schedule, tensor));
  }
  blob.cycles = scheduled.cycles;
  blob.report = report_of(program, scheduled);
  return blob;
}

}  // namespace thimble::engine::ethos_u
