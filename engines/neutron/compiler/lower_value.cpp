// SPDX-License-Identifier: Apache-2.0
// Memory locations of values, and copies before kernels that cannot read them in place.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"

namespace thimble::engine::neutron {

using ir::ValueId;

namespace {

BufferView from_axes(const Location& location, const std::vector<Axis>& axes) {
  BufferView view{location.buffer, location.offset, {}, {}};
  for (const Axis& axis : axes) {
    view.dims.push_back(axis.size);
    view.strides.push_back(axis.size == 1 ? 0 : axis.stride);
  }
  return view;
}

/// Byte addresses of a location modulo some number: they are in [first, first + count).
struct Remainders {
  int64_t first = 0, count = 1;
};

Remainders remainders_of(const Location& location, int64_t modulus) {
  Remainders result{location.offset % modulus, 1};
  for (const Axes& dim : location.dims) {
    for (const Axis& axis : dim) {
      if (axis.stride % modulus != 0) result.count += (axis.size - 1) * axis.stride;
    }
  }
  result.count = std::min(result.count, modulus);
  return result;
}

bool apart(const Location& a, const Location& b, int64_t modulus) {
  const Remainders of_a = remainders_of(a, modulus), of_b = remainders_of(b, modulus);
  const auto gap = [&](const Remainders& from, const Remainders& to) {
    return (to.first + modulus - from.first) % modulus;
  };
  return gap(of_a, of_b) >= of_a.count && gap(of_b, of_a) >= of_b.count;
}

bool apart_by_strides_of(const Location& from, const Location& a, const Location& b) {
  return std::ranges::any_of(from.dims, [&](const Axes& dim) {
    return std::ranges::any_of(
        merged(dim), [&](const Axis& axis) { return axis.stride > 1 && apart(a, b, axis.stride); });
  });
}

/// As the device proves it (engines/neutron/container/view.h): pieces of one concat interleave
/// without meeting.
bool are_disjoint(const Location& a, const Location& b) {
  if (a.buffer != b.buffer) return true;
  if (a.offset + a.extent() <= b.offset || b.offset + b.extent() <= a.offset) return true;
  return apart_by_strides_of(a, a, b) || apart_by_strides_of(b, a, b);
}

}  // namespace

BufferView view_of(const Location& location, const std::vector<size_t>& dims) {
  std::vector<Axis> axes;
  for (const size_t dim : dims) axes.push_back(*location.single(dim));
  return from_axes(location, axes);
}

BufferView image_view(const Location& location) {
  return view_of(location, {0, 2, 3, 1});
}

BufferView loop_view(const Location& location, const std::vector<Loop>& loops, size_t which) {
  std::vector<Axis> axes;
  for (const Loop& loop : loops) axes.push_back({loop.size, loop.strides[which]});
  return from_axes(location, axes);
}

std::vector<BufferView> loop_views(const std::vector<Loop>& loops,
                                   const std::vector<const Location*>& locations) {
  const std::vector<Loop> scalar = {{1, std::vector<int64_t>(locations.size(), 0)}};
  std::vector<BufferView> views;
  for (size_t i = 0; i < locations.size(); ++i) {
    views.push_back(loop_view(*locations[i], loops.empty() ? scalar : loops, i));
  }
  return views;
}

bool is_simple(const Location& location) {
  for (size_t i = 0; i < location.dims.size(); ++i) {
    if (!location.single(i)) return false;
  }
  return true;
}

bool has_contiguous_channels(const Location& image) {
  if (image.dims.size() != 4 || !is_simple(image)) return false;
  const Axis channels = *image.single(1);
  return channels.size == 1 || channels.stride == 1;
}

int Lowering::scratch(int64_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  net_.buffers.push_back(std::move(buffer));
  return static_cast<int>(net_.buffers.size()) - 1;
}

Location Lowering::fresh(ValueId id, const ir::DimOrder& order) {
  return dense(scratch(graph_.type(id).elements()), shape(id), order);
}

const Location& Lowering::location(ValueId id) {
  auto& known = locations_[ir::index_of(id)];
  if (known) return *known;
  // A constant has the memory order that its readers use.
  const ir::Value& value = graph_.value(id);
  const std::vector<std::byte> bytes = ir::to_memory(*value.constant, orders_[ir::index_of(id)]);
  Buffer buffer;
  buffer.memory = Memory::kWeights;
  for (const std::byte byte : bytes) buffer.content.push_back(static_cast<int8_t>(byte));
  buffer.bytes = static_cast<int64_t>(bytes.size());
  net_.buffers.push_back(std::move(buffer));
  known = dense(static_cast<int>(net_.buffers.size()) - 1, shape(id), orders_[ir::index_of(id)]);
  return *known;
}

Result<Location> Lowering::copy_of(const Location& from, Location wanted) {
  for (const auto& [before, after] : copies_) {
    wanted.buffer = after.buffer;
    if (same_layout(before, from) && same_layout(after, wanted)) return after;
  }
  wanted.buffer = scratch(from.elements());
  THIMBLE_CHECK(copy(from, wanted, Kernel::kTranspose));
  copies_.emplace_back(from, wanted);
  return wanted;
}

Result<Location> Lowering::copy_of(ValueId id, const ir::DimOrder& order) {
  return copy_of(location(id), dense(-1, shape(id), order));
}

Result<Location> Lowering::simple(ValueId id) {
  if (is_simple(location(id))) return location(id);
  return copy_of(id, orders_[ir::index_of(id)]);
}

Result<Location> Lowering::image(ValueId id) {
  return image(id, shape(id));
}

Result<Location> Lowering::image(ValueId id, const ir::Shape& as) {
  const Location wanted = dense(-1, as, ir::channels_last_order());
  const auto seen = reshaped(location(id), as);
  if (seen && has_contiguous_channels(*seen)) return *seen;
  if (seen) return copy_of(*seen, wanted);
  THIMBLE_TRY(const Location rows_first, copy_of(id, {}));
  return copy_of(*reshaped(rows_first, as), wanted);
}

bool Lowering::overlaps_operand(const Location& to, const std::vector<Location>& operands,
                                bool in_place) {
  return std::ranges::any_of(operands, [&](const Location& operand) {
    if (are_disjoint(operand, to)) return false;
    return !in_place || !same_layout(operand, to);
  });
}

Status Lowering::finish_result(ValueId id, const Location& made_at, Kernel copy_kind) {
  locations_[ir::index_of(id)] = made_at;
  const auto& destination = destinations_[ir::index_of(id)];
  if (!destination || at_destination_[ir::index_of(id)]) return ok();
  at_destination_[ir::index_of(id)] = true;
  if (same_layout(*destination, made_at)) return ok();
  return copy(made_at, *destination, copy_kind);
}

/// Adds a copy. If it needs more loops than a view has dimensions, adds several copies.
Status Lowering::copy(const Location& from, const Location& to, Kernel copy_kind) {
  const std::vector<const Location*> locations = {&from, &to};
  const auto loops = common_loops(locations, all_dims(to));
  if (!loops) {
    return unsupported("{}: its memory layouts have no common loops", ir::list_text(to.shape()));
  }
  std::vector<Loop> inner = *loops;
  std::vector<Loop> outer;
  while (inner.size() > container::kRankMax) {
    outer.push_back(inner.front());
    inner.erase(inner.begin());
  }
  int64_t count = 1;
  for (const Loop& loop : outer) count *= loop.size;
  for (int64_t i = 0; i < count; ++i) {
    const std::vector<BufferView> views = loop_views(inner, locations);
    KernelOp kernel;
    kernel.kernel = copy_kind;
    kernel.operands = {views[0]};
    kernel.output = views[1];
    int64_t rest = i;
    for (const Loop& loop : outer) {
      const int64_t index = rest % loop.size;
      rest /= loop.size;
      kernel.operands[0].offset += index * loop.strides[0];
      kernel.output.offset += index * loop.strides[1];
    }
    THIMBLE_CHECK(append(std::move(kernel)));
  }
  return ok();
}

}  // namespace thimble::engine::neutron
