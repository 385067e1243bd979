// SPDX-License-Identifier: Apache-2.0
// Lowers elementwise operators: sums, products, minimum and maximum, tables.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

Kernel kernel_of(OpKind kind) {
  switch (kind) {
    case OpKind::qadd:
      return Kernel::kAdd;
    case OpKind::qsub:
      return Kernel::kSub;
    case OpKind::qmul:
      return Kernel::kMul;
    case OpKind::maximum:
      return Kernel::kMaximum;
    default:
      return Kernel::kMinimum;
  }
}

}  // namespace

/// Iterates over operands in the order of the result. If no common loops exist, the operands are
/// copied to row-major buffers first.
Status Lowering::elementwise(KernelOp kernel, ValueId result,
                             const std::vector<ValueId>& operands) {
  std::vector<Location> locations;
  for (const ValueId id : operands) locations.push_back(broadcast(location(id), shape(result)));
  const auto walk = [&](const Location& to) {
    std::vector<const Location*> all;
    for (const Location& each : locations) all.push_back(&each);
    all.push_back(&to);
    auto loops = common_loops(all, all_dims(to));
    if (loops && loops->size() > container::kRankMax) loops.reset();
    return loops;
  };
  const auto fits = [&](const Location& to) { return walk(to).has_value(); };
  Location y = target(result, locations, true, fits);
  if (!fits(y)) {
    for (size_t i = 0; i < operands.size(); ++i) {
      THIMBLE_TRY(const Location rows_first, copy_of(operands[i], {}));
      locations[i] = broadcast(rows_first, shape(result));
    }
    y = fresh(result, {});
  }
  const auto loops = walk(y);
  if (!loops)
    return unsupported(
        "{}: its memory layouts have no common loops, or more than 6, the most that a kernel has",
        ir::list_text(shape(result)));
  std::vector<const Location*> all;
  for (const Location& each : locations) all.push_back(&each);
  all.push_back(&y);
  std::vector<BufferView> views = loop_views(*loops, all);
  kernel.output = views.back();
  views.pop_back();
  kernel.operands = std::move(views);
  THIMBLE_CHECK(append(std::move(kernel)));
  return finish_result(result, y, Kernel::kTranspose);
}

Status Lowering::pair(const Op& op) {
  KernelOp kernel;
  kernel.kernel = kernel_of(op.kind);
  set_table(&kernel);
  const bool sum = op.kind == OpKind::qadd || op.kind == OpKind::qsub;
  if (sum || op.kind == OpKind::qmul) {
    kernel.a_zero_point = op.get(ir::attr::a_zp);
    kernel.b_zero_point = op.get(ir::attr::b_zp);
    set_requantization(op, &kernel);
  }
  if (sum) {
    kernel.multiplier = {op.get(ir::attr::a_mult), op.get(ir::attr::b_mult),
                         op.get(ir::attr::y_mult)};
    kernel.shift = {op.get(ir::attr::a_shift), op.get(ir::attr::b_shift),
                    op.get(ir::attr::y_shift)};
  }
  return elementwise(std::move(kernel), op.output, {op.inputs[0], op.inputs[1]});
}

/// Lowers a table; consecutive tables are already composed into one.
Status Lowering::table(const Op& op) {
  KernelOp kernel;
  kernel.kernel = Kernel::kTable;
  set_table(&kernel);
  return elementwise(std::move(kernel), op.output, {op.inputs[0]});
}

/// Lowers PReLU. Per-channel slopes are broadcast over a channels-last image.
Status Lowering::prelu(const Op& op) {
  KernelOp kernel;
  kernel.kernel = Kernel::kPRelu;
  set_table(&kernel);
  kernel.a_zero_point = op.get(ir::attr::x_zp);
  kernel.b_zero_point = op.get(ir::attr::w_zp);
  kernel.multiplier[1] = op.get(ir::attr::w_mult);
  kernel.shift[1] = op.get(ir::attr::w_shift);
  set_requantization(op, &kernel);
  return elementwise(std::move(kernel), op.output, {op.inputs[0], op.inputs[1]});
}

}  // namespace thimble::engine::neutron
