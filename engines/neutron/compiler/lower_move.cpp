// SPDX-License-Identifier: Apache-2.0
// Lowers data movement, mostly to views.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"
#include "engines/neutron/compiler/positions.h"

namespace thimble::engine::neutron {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

std::optional<Location> Lowering::aliased_location(const Op& op, const Location& from) const {
  if (op.kind == OpKind::permute) return permuted(from, op.get(ir::attr::dims));
  return reshaped(from, shape(op.output));
}

/// The result is a view of the operand. If the operand is at its destination, the result may be
/// too.
Status Lowering::alias(const Op& op) {
  const ValueId from = fusion().input;
  auto view = aliased_location(op, location(from));
  if (!view) {
    // The axes do not divide the new shape. A row-major copy can always be reshaped.
    THIMBLE_TRY(const Location rows_first, copy_of(from, {}));
    view = aliased_location(op, rows_first);
  }
  const auto& destination = destinations_[ir::index_of(op.output)];
  if (destination && at_destination_[ir::index_of(from)]) {
    const auto seen = aliased_location(op, *destinations_[ir::index_of(from)]);
    at_destination_[ir::index_of(op.output)] = seen && same_layout(*seen, *destination);
  }
  return finish_result(op.output, *view, Kernel::kTranspose);
}

Status Lowering::concat(const Op& op) {
  const Location whole = concat_locations_.at(op.output);
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  int64_t start = 0;
  for (const ValueId id : op.inputs) {
    const auto piece = sliced(whole, dim, start, shape(id)[dim]);
    if (!piece) {
      return unsupported(
          "the pieces of a concat along dimension {} of {} need more than one stride", dim,
          ir::list_text(shape(op.output)));
    }
    const bool done =
        at_destination_[ir::index_of(id)] && same_layout(*destinations_[ir::index_of(id)], *piece);
    if (!done) THIMBLE_CHECK(copy(location(id), *piece, Kernel::kConcat));
    start += shape(id)[dim];
  }
  return finish_result(op.output, whole, Kernel::kTranspose);
}

Status Lowering::slice(const Op& op) {
  const auto dim = static_cast<size_t>(op.get(ir::attr::dim));
  const auto cut = [&](const Location& from) {
    return sliced(from, dim, op.get(ir::attr::start), shape(op.output)[dim],
                  op.get(ir::attr::step));
  };
  auto view = cut(location(op.inputs[0]));
  if (!view) {
    THIMBLE_TRY(const Location from, copy_of(op.inputs[0], {}));
    view = cut(from);
  }
  return finish_result(op.output, *view, Kernel::kSlice);
}

Status Lowering::expand(const Op& op) {
  return finish_result(op.output, broadcast(location(op.inputs[0]), shape(op.output)));
}

/// The kernel fills the whole result, then copies the operand to its inner part.
Status Lowering::pad(const Op& op) {
  const Location x = location(op.inputs[0]);
  const Location y =
      target(op.output, {x}, false, [](const Location& to) { return is_simple(to); });
  Location inside = y;
  const auto& before = op.get(ir::attr::before);
  for (size_t dim = 0; dim < before.size(); ++dim) {
    inside = *sliced(inside, dim, before[dim], shape(op.inputs[0])[dim]);
  }
  const auto loops = common_loops(std::vector<const Location*>{&x, &inside}, all_dims(x));
  const auto around = common_loops(std::vector<const Location*>{&y}, all_dims(y));
  if (!loops || loops->size() > container::kRankMax || around->size() > container::kRankMax) {
    return unsupported(
        "{}: its memory layouts have no common loops, or more than 6, the most that a kernel has",
        ir::list_text(shape(op.inputs[0])));
  }
  const std::vector<BufferView> views = loop_views(*loops, {&x, &inside});
  KernelOp kernel;
  kernel.kernel = Kernel::kPad;
  kernel.operands = {views[0]};
  kernel.output = views[1];
  kernel.padded = loop_views(*around, {&y})[0];
  kernel.fill = static_cast<int64_t>(op.get(ir::attr::value));
  return append_result(op, std::move(kernel), y);
}

/// Lowers a gather with constant positions that mirror or repeat elements, along one dimension or,
/// with a fused gather, along two.
Status Lowering::gather(const Op& op) {
  const auto positions = positions_of(graph_, op);
  if (!positions) return unsupported("its index is not constant");
  switch (positions->kind) {
    case Positions::Kind::kReflection:
      return mirror(op);
    case Positions::Kind::kNearest:
      return resize_nearest(op);
    default:
      return unsupported(
          "no kernel picks elements in any order; use a mirrored border, or rows and columns of an "
          "image that repeat");
  }
}

std::vector<const Op*> Lowering::gathers(const Op& op) const {
  std::vector<const Op*> all = {&op};
  for (const int other : fusion().fused_ops)
    all.push_back(&graph_.ops()[static_cast<size_t>(other)]);
  return all;
}

Status Lowering::mirror(const Op& op) {
  THIMBLE_TRY(const Location x, simple(fusion().input));
  const size_t rank = x.dims.size();
  if (rank > container::kRankMax) return unsupported("it has {} dimensions", rank);
  const Location y = target(op.output, {x}, false, is_simple);
  KernelOp kernel;
  kernel.kernel = Kernel::kMirrorPad;
  kernel.data.assign(rank, 0);
  for (const Op* each : gathers(op)) {
    kernel.data[static_cast<size_t>(each->get(ir::attr::dim))] =
        static_cast<int32_t>(positions_of(graph_, *each)->before);
  }
  kernel.operands = {view_of(x, all_dims(x))};
  kernel.output = view_of(y, all_dims(y));
  return append_result(op, std::move(kernel), y);
}

Status Lowering::resize_nearest(const Op& op) {
  THIMBLE_TRY(const Location x, image(fusion().input, fusion().input_shape));
  const Location y = target(op.output, {x}, false, has_contiguous_channels);
  KernelOp kernel;
  kernel.kernel = Kernel::kResizeNearest;
  for (const size_t side : {size_t{2}, size_t{3}}) {
    const int64_t times = shape(op.output)[side] / fusion().input_shape[side];
    for (int64_t i = 0; i < shape(op.output)[side]; ++i) {
      kernel.data.push_back(static_cast<int32_t>(i / times));
    }
  }
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  return append_result(op, std::move(kernel), y);
}

Status Lowering::resize_bilinear(const Op& op) {
  THIMBLE_TRY(const Location x, image(op.inputs[0]));
  const Location y = target(op.output, {x}, false, has_contiguous_channels);
  KernelOp kernel;
  kernel.kernel = Kernel::kResizeBilinear;
  for (size_t i = 1; i <= 4; ++i) {
    const auto& table = graph_.value(op.inputs[i]).constant;
    if (table == nullptr) return unsupported("its positions are not constant");
    const auto values = table->data<int32_t>();
    kernel.data.insert(kernel.data.end(), values.begin(), values.end());
  }
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  return append_result(op, std::move(kernel), y);
}

}  // namespace thimble::engine::neutron
