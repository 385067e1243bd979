// Memory locations of values, and copies before kernels that cannot read them in place.

#include <algorithm>

#include "engines/neutron/compiler/lowering.h"

namespace thimble::engine::neutron {

using ir::ValueId;

namespace {

View from_factors(const Strided& place, const std::vector<Factor>& factors) {
  View view{place.buffer, place.offset, {}, {}};
  for (const Factor& factor : factors) {
    view.dims.push_back(factor.size);
    view.strides.push_back(factor.size == 1 ? 0 : factor.stride);
  }
  return view;
}

/// Byte addresses of a location modulo some number: they are in [first, first + count).
struct Remainders {
  int64_t first = 0, count = 1;
};

Remainders remainders_of(const Strided& place, int64_t modulus) {
  Remainders result{place.offset % modulus, 1};
  for (const Factors& dim : place.dims) {
    for (const Factor& factor : dim) {
      if (factor.stride % modulus != 0) result.count += (factor.size - 1) * factor.stride;
    }
  }
  result.count = std::min(result.count, modulus);
  return result;
}

bool apart(const Strided& a, const Strided& b, int64_t modulus) {
  const Remainders of_a = remainders_of(a, modulus), of_b = remainders_of(b, modulus);
  const auto gap = [&](const Remainders& from, const Remainders& to) {
    return (to.first + modulus - from.first) % modulus;
  };
  return gap(of_a, of_b) >= of_a.count && gap(of_b, of_a) >= of_b.count;
}

bool apart_by_strides_of(const Strided& from, const Strided& a, const Strided& b) {
  return std::ranges::any_of(from.dims, [&](const Factors& dim) {
    return std::ranges::any_of(merged(dim), [&](const Factor& factor) {
      return factor.stride > 1 && apart(a, b, factor.stride);
    });
  });
}

/// As the device proves it (engines/neutron/container/view.h): pieces of one concat interleave
/// without meeting.
bool are_disjoint(const Strided& a, const Strided& b) {
  if (a.buffer != b.buffer) return true;
  if (a.offset + a.extent() <= b.offset || b.offset + b.extent() <= a.offset) return true;
  return apart_by_strides_of(a, a, b) || apart_by_strides_of(b, a, b);
}

}  // namespace

View view_of(const Strided& place, const std::vector<size_t>& dims) {
  std::vector<Factor> factors;
  for (const size_t dim : dims) factors.push_back(*place.one(dim));
  return from_factors(place, factors);
}

View image_view(const Strided& place) {
  return view_of(place, {0, 2, 3, 1});
}

std::vector<View> loop_views(const std::vector<Loop>& loops,
                             const std::vector<const Strided*>& places) {
  std::vector<View> views;
  for (size_t i = 0; i < places.size(); ++i) {
    std::vector<Factor> factors;
    for (const Loop& loop : loops) factors.push_back({loop.size, loop.strides[i]});
    if (factors.empty()) factors.push_back({1, 0});
    views.push_back(from_factors(*places[i], factors));
  }
  return views;
}

bool is_simple(const Strided& place) {
  for (size_t i = 0; i < place.dims.size(); ++i) {
    if (!place.one(i)) return false;
  }
  return true;
}

bool has_channels_together(const Strided& image) {
  if (image.dims.size() != 4 || !is_simple(image)) return false;
  const Factor channels = *image.one(1);
  return channels.size == 1 || channels.stride == 1;
}

int Lowering::scratch(int64_t bytes) {
  Buffer buffer;
  buffer.bytes = bytes;
  net_.buffers.push_back(std::move(buffer));
  return static_cast<int>(net_.buffers.size()) - 1;
}

Strided Lowering::fresh(ValueId id, const ir::DimOrder& order) {
  return dense(scratch(graph_.type(id).elements()), shape(id), order);
}

const Strided& Lowering::place(ValueId id) {
  auto& place = places_[ir::index_of(id)];
  if (place) return *place;
  // A constant has the memory order that its readers use.
  const ir::Value& value = graph_.value(id);
  const std::vector<std::byte> bytes = ir::to_memory(*value.constant, orders_[ir::index_of(id)]);
  Buffer buffer;
  buffer.memory = Memory::kWeights;
  for (const std::byte byte : bytes) buffer.content.push_back(static_cast<int8_t>(byte));
  buffer.bytes = static_cast<int64_t>(bytes.size());
  net_.buffers.push_back(std::move(buffer));
  place = dense(static_cast<int>(net_.buffers.size()) - 1, shape(id), orders_[ir::index_of(id)]);
  return *place;
}

Result<Strided> Lowering::moved(const Strided& from, Strided wanted) {
  for (const auto& [before, after] : moved_) {
    wanted.buffer = after.buffer;
    if (same_layout(before, from) && same_layout(after, wanted)) return after;
  }
  wanted.buffer = scratch(from.elements());
  THIMBLE_CHECK(copy(from, wanted, Kernel::kTranspose));
  moved_.emplace_back(from, wanted);
  return wanted;
}

Result<Strided> Lowering::moved(ValueId id, const ir::DimOrder& order) {
  return moved(place(id), dense(-1, shape(id), order));
}

Result<Strided> Lowering::simple(ValueId id) {
  if (is_simple(place(id))) return place(id);
  return moved(id, orders_[ir::index_of(id)]);
}

Result<Strided> Lowering::image(ValueId id) {
  return image(id, shape(id));
}

Result<Strided> Lowering::image(ValueId id, const ir::Shape& as) {
  const Strided wanted = dense(-1, as, ir::channels_last_order());
  const auto seen = reshaped(place(id), as);
  if (seen && has_channels_together(*seen)) return *seen;
  if (seen) return moved(*seen, wanted);
  THIMBLE_TRY(const Strided rows_first, moved(id, {}));
  return moved(*reshaped(rows_first, as), wanted);
}

bool Lowering::overlaps_operand(const Strided& to, const std::vector<Strided>& operands,
                                bool in_place) {
  return std::ranges::any_of(operands, [&](const Strided& operand) {
    if (are_disjoint(operand, to)) return false;
    return !in_place || !same_layout(operand, to);
  });
}

Status Lowering::made(ValueId id, const Strided& made_at, Kernel why) {
  places_[ir::index_of(id)] = made_at;
  const auto& home = destinations_[ir::index_of(id)];
  if (!home || at_destination_[ir::index_of(id)]) return ok();
  at_destination_[ir::index_of(id)] = true;
  if (same_layout(*home, made_at)) return ok();
  return copy(made_at, *home, why);
}

/// Adds a copy. If it needs more loops than a view has dimensions, adds several copies.
Status Lowering::copy(const Strided& from, const Strided& to, Kernel why) {
  const std::vector<const Strided*> places = {&from, &to};
  const auto loops = common_loops(places, all_dims(to));
  if (!loops) {
    return unsupported("{} lies in memory so that no views move it", ir::list_text(to.shape()));
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
    const std::vector<View> views = loop_views(inner, places);
    KernelOp kernel;
    kernel.kernel = why;
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
