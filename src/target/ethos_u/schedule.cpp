#include "target/ethos_u/schedule.h"

#include "target/ethos_u/cost.h"

namespace thimble::target::ethos_u {

Result<Scheduled> schedule_simply(const NpuProgram& program, const ScheduleOptions& options,
                                  Encoders* encoders) {
  Draft draft;
  for (const NpuTensor& tensor : program.tensors) {
    TensorDraft one;
    one.rows = tensor.shape.h;
    draft.tensors.push_back(one);
  }
  Scheduled result;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const NpuOp& op = program.ops[i];
    OpDraft one;
    Step step;
    step.op = static_cast<int>(i);
    step.rows = {0, op.ofm.shape.h};
    if (op.kind == NpuOpKind::kDma) {
      step.kind = Step::Kind::kOpDma;
      result.op_cycles.push_back(0);
    } else {
      Placement placement;
      if (op.weights) placement.weight_bytes = static_cast<int64_t>(op.weights->values.size());
      const auto choice =
          choose_block(*program.config, *options.system, shape_of(op), placement);
      if (!choice) return unsupported("no block of operation {} fits {}", i, program.config->name);
      one.block = choice->block;
      if (op.weights) one.starts = {0};
      result.op_cycles.push_back(static_cast<int64_t>(choice->cost.cycles()));
      result.cycles += result.op_cycles.back();
    }
    draft.ops.push_back(one);
    draft.steps.push_back(step);
  }
  THIMBLE_TRY(result.schedule, assemble(program, options, draft, encoders));
  return result;
}

}  // namespace thimble::target::ethos_u
