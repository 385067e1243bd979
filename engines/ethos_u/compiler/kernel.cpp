// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/compiler/kernel.h"

namespace thimble::engine::ethos_u {

Kernel kernel_of(const NpuProgram& program, const Schedule& schedule, const Step& step) {
  Kernel kernel;
  kernel.program = &program;
  kernel.schedule = &schedule;
  kernel.op = &program.ops[static_cast<size_t>(step.op)];
  kernel.plan = &schedule.ops[static_cast<size_t>(step.op)];
  const NpuOp& op = *kernel.op;
  kernel.rows = step.rows;
  kernel.slice = step.slice;
  kernel.channels = {0, op.ofm.shape.c};
  const WeightPlan& weights = kernel.plan->weights;
  if (!weights.slices.empty()) {
    kernel.channels = weights.slices[static_cast<size_t>(step.slice)].channels;
  }
  kernel.input = input_rows(op, step.rows);
  const bool sliced_input = op.kind == NpuOpKind::kDepthwise && op.ifm.shape.c == op.ofm.shape.c;
  const IndexRange input_channels = sliced_input ? kernel.channels : IndexRange{0, op.ifm.shape.c};
  kernel.ifm = map_operand(program, schedule, op.ifm, kernel.input.rows, input_channels);
  kernel.ofm = map_operand(program, schedule, op.ofm, step.rows, kernel.channels);
  if (op.ifm2) {
    kernel.has_ifm2 = true;
    kernel.ifm2 = map_operand(program, schedule, *op.ifm2, second_input_rows(op, step.rows),
                              {0, op.ifm2->shape.c});
  }
  return kernel;
}

std::vector<Access> accesses_of(const Kernel& kernel) {
  std::vector<Access> accesses;
  const NpuOp& op = *kernel.op;
  add_accesses(kernel.ifm, op.ifm.element.bits / 8, false, &accesses);
  if (kernel.has_ifm2) add_accesses(kernel.ifm2, op.ifm2->element.bits / 8, false, &accesses);
  add_accesses(kernel.ofm, op.ofm.element.bits / 8, true, &accesses);
  const WeightPlan& weights = kernel.plan->weights;
  if (!weights.slices.empty()) {
    const SlicePlan& slice = weights.slices[static_cast<size_t>(kernel.slice)];
    const SlicePlace place = slice_place(weights, kernel.slice);
    accesses.push_back({place.region, false, false, place.address, place.address + slice.bytes});
  }
  if (!op.table.content.empty()) {
    const int64_t begin = table_address(*kernel.program->config, kernel.table_slot);
    accesses.push_back({0, true, false, begin, begin + table_bytes(op.table)});
  } else if (kernel.program->config->generation != Generation::kU85 &&
             kernel.program->config->banks <= 16) {
    // Accumulators of operations without a LUT overwrite the LUTs.
    accesses.push_back({0, true, true, table_address(*kernel.program->config, 0),
                        table_address(*kernel.program->config, 8)});
  }
  return accesses;
}

SlicePlace slice_place(const WeightPlan& weights, int slice) {
  const auto index = static_cast<size_t>(slice);
  if (weights.address[index] < 0) return {kConstantRegion, weights.slices[index].offset};
  return {weights.region, weights.address[index]};
}

int64_t table_bytes(const Table& table) {
  return static_cast<int64_t>(table.content.size());
}

int64_t table_address(const Config& config, int slot) {
  const int64_t begin = config.generation == Generation::kU85
                            ? 0
                            : int64_t{config.banks} * 1024 - int64_t{thimble::ethos_u::kLutBytes};
  return begin + slot * 256;
}

}  // namespace thimble::engine::ethos_u
