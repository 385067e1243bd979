// Movement: mostly views.

#include <algorithm>

#include "target/neutron/lowering.h"

namespace thimble::target::neutron {

using ir::Op;
using ir::OpKind;
using ir::ValueId;

namespace {

size_t at(ValueId id) {
  return static_cast<size_t>(id);
}

/// Positions of a constant index along a dimension; nothing if it comes from outside.
std::optional<std::vector<int32_t>> positions(const ir::Graph& graph, const Op& op) {
  const auto& constant = graph.value(op.inputs[1]).constant;
  if (constant == nullptr || constant->shape.size() != 1) return std::nullopt;
  const int64_t size = graph.type(op.inputs[0]).shape[static_cast<size_t>(op.integer("dim"))];
  std::vector<int32_t> result;
  const auto add = [&](int64_t index) {
    const int64_t from_start = index < 0 ? index + size : index;
    result.push_back(static_cast<int32_t>(std::clamp<int64_t>(from_start, 0, size - 1)));
  };
  if (constant->dtype == ir::DType::kI32) {
    for (const int32_t index : constant->data<int32_t>()) add(index);
  } else {
    for (const int64_t index : constant->data<int64_t>()) add(index);
  }
  return result;
}

/// How many elements stand mirrored in front, if the positions are those of a reflecting padding.
std::optional<int64_t> mirrored_before(const std::vector<int32_t>& index, int64_t size) {
  const auto zero = std::ranges::find(index, 0);
  if (zero == index.end()) return std::nullopt;
  const int64_t before = zero - index.begin();
  const auto count = static_cast<int64_t>(index.size());
  if (before >= size || count - before - size >= size || count < before + size) return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = i - before;
    const int64_t wanted = from < 0 ? -from : from >= size ? 2 * (size - 1) - from : from;
    if (index[static_cast<size_t>(i)] != wanted) return std::nullopt;
  }
  return before;
}

}  // namespace

std::optional<Strided> Lowering::rename_view(const Op& op, const Strided& from) const {
  if (op.kind == OpKind::permute) return permuted(from, op.integers("dims"));
  return reshaped(from, shape(op.output));
}

/// The home of what is renamed may be the home of its new name.
Status Lowering::rename(const Op& op) {
  const ValueId from = op.inputs[0];
  auto view = rename_view(op, place(from));
  if (!view) {
    // A factor does not divide: rows first always do.
    THIMBLE_TRY(const Strided rows_first, moved(from, {}, Kernel::kTranspose));
    view = rename_view(op, rows_first);
  }
  const auto& home = homes_[at(op.output)];
  if (home && at_home_[at(from)]) {
    const auto seen = rename_view(op, *homes_[at(from)]);
    at_home_[at(op.output)] = seen && same_place(*seen, *home);
  }
  return made(op.output, *view, Kernel::kTranspose);
}

Status Lowering::concat(const Op& op) {
  const Strided home = *homes_[at(op.output)];
  const auto dim = static_cast<size_t>(op.integer("dim"));
  int64_t start = 0;
  for (const ValueId id : op.inputs) {
    const auto piece = sliced(home, dim, start, shape(id)[dim]);
    if (!piece) {
      return unsupported("pieces of {} along dimension {} do not lie at one stride",
                         ir::list_text(shape(op.output)), dim);
    }
    const bool done = at_home_[at(id)] && same_place(*homes_[at(id)], *piece);
    if (!done) THIMBLE_CHECK(copy(place(id), *piece, Kernel::kConcat));
    start += shape(id)[dim];
  }
  return made(op.output, home);
}

Status Lowering::slice(const Op& op) {
  const auto dim = static_cast<size_t>(op.integer("dim"));
  const auto cut = [&](const Strided& from) {
    return sliced(from, dim, op.integer("start"), shape(op.output)[dim], op.integer("step"));
  };
  auto view = cut(place(op.inputs[0]));
  if (!view) {
    THIMBLE_TRY(const Strided from, moved(op.inputs[0], {}, Kernel::kTranspose));
    view = cut(from);
  }
  return made(op.output, *view, Kernel::kSlice);
}

Status Lowering::expand(const Op& op) {
  return made(op.output, broadcast(place(op.inputs[0]), shape(op.output)));
}

/// Everything is filled, then what is inside is copied.
Status Lowering::pad(const Op& op) {
  const Strided x = place(op.inputs[0]);
  const Strided y = target(op.output, {x}, false, [](const Strided& to) { return is_simple(to); });
  Strided inside = y;
  const auto before = op.integers("before");
  for (size_t dim = 0; dim < before.size(); ++dim) {
    inside = *sliced(inside, dim, before[dim], shape(op.inputs[0])[dim]);
  }
  const auto loops = common_loops(std::vector<const Strided*>{&x, &inside}, all_dims(x));
  const auto around = common_loops(std::vector<const Strided*>{&y}, all_dims(y));
  if (!loops || loops->size() > container::kRankMax || around->size() > container::kRankMax) {
    return unsupported("{} lies in memory so that no views pad it",
                       ir::list_text(shape(op.inputs[0])));
  }
  const std::vector<View> views = loop_views(*loops, {&x, &inside});
  KernelOp kernel;
  kernel.kernel = Kernel::kPad;
  kernel.operands = {views[0]};
  kernel.output = views[1];
  kernel.outside = loop_views(*around, {&y})[0];
  kernel.fill = static_cast<int64_t>(op.number("value"));
  THIMBLE_CHECK(append(std::move(kernel)));
  return made(op.output, y);
}

/// A constant index that mirrors or repeats: paddings by reflection, resizing to the nearest.
Status Lowering::gather(const Op& op) {
  const auto index = positions(graph_, op);
  if (!index) return unsupported("its index is computed at run time");
  const auto dim = static_cast<size_t>(op.integer("dim"));
  if (const auto before = mirrored_before(*index, shape(op.inputs[0])[dim])) {
    return mirror(op, *before);
  }
  const bool along_image = shape(op.output).size() == 4 && (dim == 2 || dim == 3);
  if (along_image && std::ranges::is_sorted(*index)) return resize_nearest(op, *index);
  return unsupported(
      "no kernel picks elements in any order: a mirrored border, or rows and columns of an image "
      "that repeat, are the nearest");
}

Status Lowering::mirror(const Op& op, int64_t before) {
  THIMBLE_TRY(const Strided x, simple(op.inputs[0]));
  const size_t rank = x.dims.size();
  if (rank > container::kRankMax) return unsupported("it has {} dimensions", rank);
  const Strided y = target(op.output, {x}, false, [](const Strided& to) { return is_simple(to); });
  KernelOp kernel;
  kernel.kernel = Kernel::kMirrorPad;
  kernel.data.assign(rank, 0);
  kernel.data[static_cast<size_t>(op.integer("dim"))] = static_cast<int32_t>(before);
  kernel.operands = {view_of(x, all_dims(x))};
  kernel.output = view_of(y, all_dims(y));
  THIMBLE_CHECK(append(std::move(kernel)));
  return made(op.output, y);
}

Status Lowering::resize_nearest(const Op& op, const std::vector<int32_t>& index) {
  THIMBLE_TRY(const Strided x, image(op.inputs[0]));
  const Strided y = target(op.output, {x}, false, has_channels_together);
  KernelOp kernel;
  kernel.kernel = Kernel::kResizeNearest;
  const ir::Shape& size = shape(op.output);
  for (const int64_t side : {2, 3}) {
    for (int32_t i = 0; i < size[static_cast<size_t>(side)]; ++i) {
      kernel.data.push_back(side == op.integer("dim") ? index[static_cast<size_t>(i)] : i);
    }
  }
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  THIMBLE_CHECK(append(std::move(kernel)));
  return made(op.output, y);
}

Status Lowering::resize_bilinear(const Op& op) {
  THIMBLE_TRY(const Strided x, image(op.inputs[0]));
  const Strided y = target(op.output, {x}, false, has_channels_together);
  KernelOp kernel;
  kernel.kernel = Kernel::kResizeBilinear;
  for (size_t i = 1; i <= 4; ++i) {
    const auto& table = graph_.value(op.inputs[i]).constant;
    if (table == nullptr) return unsupported("its positions are computed at run time");
    const auto values = table->data<int32_t>();
    kernel.data.insert(kernel.data.end(), values.begin(), values.end());
  }
  kernel.operands = {image_view(x)};
  kernel.output = image_view(y);
  THIMBLE_CHECK(append(std::move(kernel)));
  return made(op.output, y);
}

}  // namespace thimble::target::neutron
