// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/lower.h"

#include <algorithm>
#include <cmath>

#include "engines/neutron/compiler/cost.h"
#include "engines/neutron/compiler/lowering.h"
#include "interchange/table_function.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

Function container_function(const interchange::Function& function) {
  using Kind = interchange::Function::Kind;
  switch (function.kind) {
    case Kind::kAbs:
      return Function::kAbs;
    case Kind::kClamp:
      return function.min == 0 && std::isinf(function.max) ? Function::kRelu : Function::kClamp;
    case Kind::kExp:
      return Function::kExp;
    case Kind::kHardSwish:
      return Function::kHardSwish;
    case Kind::kLeakyRelu:
      return Function::kLeakyRelu;
    case Kind::kLog:
      return Function::kLog;
    case Kind::kLogistic:
      return Function::kLogistic;
    case Kind::kNeg:
      return Function::kNeg;
    case Kind::kRescale:
      return Function::kRescale;
    case Kind::kRsqrt:
      return Function::kRsqrt;
    case Kind::kTanh:
      return Function::kTanh;
  }
  return Function::kNone;
}

}  // namespace

Lowering::Lowering(const ir::Graph& graph, const Costs& costs)
    : graph_(graph),
      costs_(costs),
      producers_(graph.producers()),
      consumers_(graph.consumers()),
      orders_(memory_orders(graph)),
      fusions_(find_fusions(graph)),
      locations_(graph.value_count()),
      destinations_(graph.value_count()),
      at_destination_(graph.value_count(), false) {}

Result<Network> Lowering::run() {
  THIMBLE_CHECK(add_inputs_and_outputs());
  assign_destinations();
  for (size_t i = 0; i < graph_.ops().size(); ++i) {
    const Op& op = graph_.ops()[i];
    if (fusions_[i].absorbed) continue;
    op_ = static_cast<int>(i);
    const Status added = add_op(op);
    if (added.ok()) continue;
    return prefixed(ir::op_name(op.kind), added.error());
  }
  THIMBLE_CHECK(add_outputs());
  if (net_.kernels.size() > container::kKernelsMax) {
    return unsupported("{} kernels, expected at most {}", net_.kernels.size(),
                       container::kKernelsMax);
  }
  return std::move(net_);
}

Status Lowering::add_inputs_and_outputs() {
  const auto add = [&](const std::vector<ValueId>& values, Memory memory,
                       std::vector<NetworkIo>& io) -> Status {
    if (values.size() > container::kIoMax) {
      return unsupported("{} {}, expected at most {}", values.size(),
                         memory == Memory::kInput ? "inputs" : "outputs", container::kIoMax);
    }
    for (const ValueId id : values) {
      const ir::Type& type = graph_.type(id);
      if (type.dtype != ir::DType::kI8) {
        return unsupported("%{} is {}, expected i8", graph_.value(id).name,
                           ir::dtype_name(type.dtype));
      }
      if (type.shape.size() > container::kRankMax) {
        return unsupported("%{} has {} dimensions, expected at most {}", graph_.value(id).name,
                           type.shape.size(), container::kRankMax);
      }
      io.push_back({static_cast<int>(net_.buffers.size()), type});
      Buffer buffer;
      buffer.memory = memory;
      buffer.index = static_cast<int>(io.size()) - 1;
      buffer.bytes = type.elements();
      net_.buffers.push_back(std::move(buffer));
    }
    return ok();
  };
  THIMBLE_CHECK(add(graph_.inputs(), Memory::kInput, net_.inputs));
  THIMBLE_CHECK(add(graph_.outputs(), Memory::kOutput, net_.outputs));
  for (size_t i = 0; i < net_.inputs.size(); ++i) {
    const ir::Type& type = net_.inputs[i].type;
    locations_[ir::index_of(graph_.inputs()[i])] =
        dense(net_.inputs[i].buffer, type.shape, type.dim_order);
  }
  return ok();
}

// --- destinations ------------------------------------------------------------------------------

bool Lowering::is_made_by_kernel(ValueId id) const {
  return producers_[ir::index_of(id)] >= 0;
}

void Lowering::assign_destination(ValueId id, const Location& destination) {
  if (is_made_by_kernel(id) && !destinations_[ir::index_of(id)])
    destinations_[ir::index_of(id)] = destination;
}

void Lowering::assign_destinations() {
  for (size_t i = 0; i < net_.outputs.size(); ++i) {
    const ir::Type& type = net_.outputs[i].type;
    assign_destination(graph_.outputs()[i],
                       dense(net_.outputs[i].buffer, type.shape, type.dim_order));
  }
  for (size_t i = graph_.ops().size(); i-- > 0;) {
    assign_destination_from_slices(graph_.ops()[i].output);
    assign_operand_destination(graph_.ops()[i]);
  }
}

/// If slices cover the value and their destinations are adjacent in the same layout, the value's
/// destination is the union of theirs.
void Lowering::assign_destination_from_slices(ValueId id) {
  if (destinations_[ir::index_of(id)]) return;
  std::optional<Location> whole;
  int64_t covered = 0;
  for (const int reader : consumers_[ir::index_of(id)]) {
    const Op& op = graph_.ops()[static_cast<size_t>(reader)];
    const auto& destination = destinations_[ir::index_of(op.output)];
    if (op.kind != OpKind::slice || op.get(ir::attr::step) != 1 || !destination) continue;
    const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
    const auto axis = destination->single(dim);
    // A slice of one element does not define the stride.
    if (!axis || axis->size == 1) return;
    Location from = *destination;
    from.offset -= op.get(ir::attr::start) * axis->stride;
    from.dims[dim] = {{shape(id)[dim], axis->stride}};
    if (from.offset < 0 || (whole && !same_layout(*whole, from))) return;
    whole = from;
    covered += shape(op.output)[dim] * (graph_.type(id).elements() / shape(id)[dim]);
  }
  if (whole && covered == graph_.type(id).elements()) assign_destination(id, *whole);
}

void Lowering::assign_operand_destination(const Op& op) {
  if (op.kind == OpKind::concat) return assign_concat_destinations(op);
  const auto index = static_cast<size_t>(&op - graph_.ops().data());
  if (fusions_[index].absorbed || (!is_view_op(op) && !fusions_[index].in_producer)) return;
  if (!destinations_[ir::index_of(op.output)]) assign_channels_last_destination(op);
  const auto& destination = destinations_[ir::index_of(op.output)];
  if (!destination) return;
  if (op.kind == OpKind::permute) {
    assign_destination(op.inputs[0], unpermuted(*destination, op.get(ir::attr::dims)));
  } else if (const auto turned = reshaped(*destination, shape(fusions_[index].input))) {
    assign_destination(fusions_[index].input, *turned);
  }
}

/// Assigns destinations to the pieces of a concat. The result is written to its destination if each
/// piece is a view of it; otherwise to a new buffer.
void Lowering::assign_concat_destinations(const Op& op) {
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const auto pieces_of = [&](const Location& whole) {
    std::vector<Location> pieces;
    int64_t start = 0;
    for (const ValueId id : op.inputs) {
      const auto piece = sliced(whole, dim, start, shape(id)[dim]);
      if (piece) pieces.push_back(*piece);
      start += shape(id)[dim];
    }
    return pieces;
  };
  auto& destination = destinations_[ir::index_of(op.output)];
  Location whole = destination ? *destination : fresh(op.output, orders_[ir::index_of(op.output)]);
  if (destination && pieces_of(whole).size() != op.inputs.size()) {
    whole = fresh(op.output, orders_[ir::index_of(op.output)]);
  }
  if (!destination) destination = whole;
  concat_locations_[op.output] = whole;
  const std::vector<Location> pieces = pieces_of(whole);
  for (size_t i = 0; i < pieces.size(); ++i) assign_destination(op.inputs[i], pieces[i]);
}

/// Assigns a channels-last destination to the result of a linear layer that is reshaped to an
/// image. The rows of its weights can be reordered, so no transpose is needed.
void Lowering::assign_channels_last_destination(const Op& op) {
  if (op.kind != OpKind::reshape || orders_[ir::index_of(op.output)].empty()) return;
  const int producer = producers_[ir::index_of(op.inputs[0])];
  if (producer < 0 || consumers_[ir::index_of(op.inputs[0])].size() != 1) return;
  const bool table = fusions_[static_cast<size_t>(producer)].in_producer;
  const bool linear = graph_.ops()[static_cast<size_t>(producer)].kind == OpKind::qlinear;
  if (!linear && !table) return;
  destinations_[ir::index_of(op.output)] = fresh(op.output, orders_[ir::index_of(op.output)]);
}

// --- operators ---------------------------------------------------------------------------------

Status Lowering::add_op(const Op& op) {
  if (graph_.type(op.output).dtype != ir::DType::kI8) {
    return unsupported("the result is {}, expected i8",
                       ir::dtype_name(graph_.type(op.output).dtype));
  }
  if (fusion().in_producer) return alias(op);
  if (fusion().is_table) return table(op);
  const bool rounds = ir::has_attr(op.kind, ir::attr::rounding);
  if (rounds && op.get(ir::attr::rounding) > 1) return unsupported("it rounds halves to even");
  switch (op.kind) {
    case OpKind::qconv2d:
      return convolution(op);
    case OpKind::qconv_transpose2d:
      return transposed(op);
    case OpKind::qlinear:
      return linear(op);
    case OpKind::qmatmul:
      return matmul(op);
    case OpKind::qadd:
    case OpKind::qsub:
    case OpKind::qmul:
    case OpKind::maximum:
    case OpKind::minimum:
      return pair(op);
    case OpKind::lut:
    case OpKind::rescale:
      return unsupported("its table is not constant");
    case OpKind::qprelu:
      return prelu(op);
    case OpKind::qmean:
    case OpKind::amax:
    case OpKind::amin:
      return reduction(op);
    case OpKind::max_pool2d:
    case OpKind::qavg_pool2d:
      return pool(op);
    case OpKind::qadaptive_avg_pool2d:
      return adaptive_pool(op);
    case OpKind::qsoftmax:
      return softmax(op);
    case OpKind::copy:
    case OpKind::permute:
    case OpKind::reshape:
      return alias(op);
    case OpKind::concat:
      return concat(op);
    case OpKind::slice:
      return slice(op);
    case OpKind::expand:
      return expand(op);
    case OpKind::pad:
      return pad(op);
    case OpKind::gather:
      return gather(op);
    case OpKind::qresize_bilinear:
      return resize_bilinear(op);
    default:
      return unsupported("the NPU has no kernel for it");
  }
}

Status Lowering::add_outputs() {
  for (size_t i = 0; i < net_.outputs.size(); ++i) {
    const ValueId id = graph_.outputs()[i];
    const ir::Type& type = net_.outputs[i].type;
    const Location wanted = dense(net_.outputs[i].buffer, type.shape, type.dim_order);
    const bool there =
        at_destination_[ir::index_of(id)] && same_layout(*destinations_[ir::index_of(id)], wanted);
    if (!there) THIMBLE_CHECK(copy(location(id), wanted, Kernel::kCopy));
  }
  return ok();
}

Status Lowering::append(KernelOp kernel) {
  kernel.ir_op = op_;
  if (!container::is_copy(kernel.kernel)) kernel.fused_ops = fusion().fused_ops;
  kernel.cycles = cycles_of(kernel, costs_);
  net_.kernels.push_back(std::move(kernel));
  return ok();
}

Status Lowering::append_result(const Op& op, KernelOp kernel, const Location& y, Kernel copy_kind) {
  THIMBLE_CHECK(append(std::move(kernel)));
  return finish_result(op.output, y, copy_kind);
}

void Lowering::set_requantization(const Op& op, KernelOp* kernel) {
  kernel->rounding = op.get(ir::attr::rounding);
  kernel->y_zero_point = op.get(ir::attr::y_zp);
  kernel->min = op.get(ir::attr::min);
  kernel->max = op.get(ir::attr::max);
  if (ir::op_info(op.kind).attr("mult") == nullptr) return;
  kernel->multiplier[2] = op.get(ir::attr::mult);
  kernel->shift[2] = op.get(ir::attr::shift);
}

void Lowering::set_table(KernelOp* kernel) const {
  const Fusion& own = fusion();
  if (!own.table) return;
  kernel->table.assign(own.table->begin(), own.table->end());
  if (own.table_op < 0) return;
  const Op& table = graph_.ops()[static_cast<size_t>(own.table_op)];
  if (table.kind == OpKind::rescale) kernel->function = Function::kRescale;
  if (table.kind != OpKind::lut) return;
  const auto function = interchange::recognize_table_function(graph_, table);
  if (function) kernel->function = container_function(*function);
}

Result<Network> lower(const ir::Graph& subgraph, const Costs& costs) {
  return Lowering(subgraph, costs).run();
}

}  // namespace thimble::engine::neutron
