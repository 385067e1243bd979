// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/compiler/location.h"

#include <algorithm>

namespace thimble::engine::neutron {
namespace {

int64_t size_of(const Axes& axes) {
  int64_t size = 1;
  for (const Axis& axis : axes) size *= axis.size;
  return size;
}

bool joins(const Axis& outer, const Axis& inner) {
  return outer.stride == inner.size * inner.stride;
}

/// Removes `size` elements from the outermost axes of a reversed list and returns them.
std::optional<Axes> taken(Axes& reversed, int64_t size) {
  Axes result;
  while (size > 1) {
    if (reversed.empty()) return std::nullopt;
    Axis& next = reversed.back();
    if (size % next.size == 0) {
      size /= next.size;
      result.push_back(next);
      reversed.pop_back();
    } else if (next.size % size == 0) {
      next.size /= size;
      result.push_back({size, next.stride * next.size});
      size = 1;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

/// Removes one common innermost loop from all lists; returns false if the sizes do not divide.
bool take_innermost(std::vector<Axes>& lists, std::vector<Loop>& loops) {
  int64_t size = INT64_MAX;
  for (const Axes& list : lists) size = std::min(size, list.back().size);
  Loop loop{size, {}};
  for (Axes& list : lists) {
    Axis& last = list.back();
    if (last.size % size != 0) return false;
    loop.strides.push_back(last.stride);
    last.stride *= size;
    last.size /= size;
    if (last.size == 1) list.pop_back();
  }
  loops.push_back(std::move(loop));
  return true;
}

}  // namespace

ir::Shape Location::shape() const {
  ir::Shape result;
  for (const Axes& dim : dims) result.push_back(size_of(dim));
  return result;
}

int64_t Location::elements() const {
  return ir::element_count(shape());
}

int64_t Location::extent() const {
  int64_t last = 0;
  for (const Axes& dim : dims) {
    for (const Axis& axis : dim) last += (axis.size - 1) * axis.stride;
  }
  return last + 1;
}

std::optional<Axis> Location::single(size_t dim) const {
  const Axes axes = merged(dims[dim]);
  if (axes.empty()) return Axis{1, 0};
  if (axes.size() > 1) return std::nullopt;
  return axes[0];
}

Axes merged(const Axes& axes) {
  Axes result;
  for (const Axis& axis : axes) {
    if (axis.size == 1) continue;
    if (!result.empty() && joins(result.back(), axis)) {
      result.back() = {result.back().size * axis.size, axis.stride};
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

bool same_layout(const Location& a, const Location& b) {
  if (a.buffer != b.buffer || a.offset != b.offset || a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (merged(a.dims[i]) != merged(b.dims[i])) return false;
  }
  return true;
}

Location dense(int buffer, const ir::Shape& shape, const ir::DimOrder& order) {
  const std::vector<int64_t> strides = ir::strides(shape, order);
  Location result{buffer, 0, {}};
  for (size_t i = 0; i < shape.size(); ++i) {
    result.dims.push_back(shape[i] == 1 ? Axes{} : Axes{{shape[i], strides[i]}});
  }
  return result;
}

Location permuted(const Location& from, std::span<const int64_t> dims) {
  Location result{from.buffer, from.offset, {}};
  for (const int64_t dim : dims) result.dims.push_back(from.dims[static_cast<size_t>(dim)]);
  return result;
}

Location unpermuted(const Location& from, std::span<const int64_t> dims) {
  Location result = from;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.dims[static_cast<size_t>(dims[i])] = from.dims[i];
  }
  return result;
}

Location broadcast(const Location& from, const ir::Shape& shape) {
  Location result{from.buffer, from.offset, {}};
  const size_t added = shape.size() - from.dims.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool there = i >= added && size_of(from.dims[i - added]) == shape[i];
    result.dims.push_back(there           ? from.dims[i - added]
                          : shape[i] == 1 ? Axes{}
                                          : Axes{{shape[i], 0}});
  }
  return result;
}

std::optional<Location> reshaped(const Location& from, const ir::Shape& shape) {
  Axes flat;
  for (const Axes& dim : from.dims) flat.insert(flat.end(), dim.begin(), dim.end());
  flat = merged(flat);
  std::ranges::reverse(flat);
  Location result{from.buffer, from.offset, {}};
  for (const int64_t size : shape) {
    auto axes = taken(flat, size);
    if (!axes) return std::nullopt;
    result.dims.push_back(*std::move(axes));
  }
  return result;
}

std::optional<Location> sliced(const Location& from, size_t dim, int64_t start, int64_t count,
                               int64_t step) {
  Location result = from;
  Axes rest = merged(from.dims[dim]);
  if (size_of(rest) == 1) return result;
  Axes& kept = result.dims[dim];
  kept.clear();
  // Skip outer axes in which the slice covers a single index; slice the next one.
  for (size_t i = 0; i < rest.size(); ++i) {
    const int64_t block = size_of({rest.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest.end()});
    const Axis& axis = rest[i];
    const int64_t last = start + (count - 1) * step;
    if (start / block == last / block) {
      result.offset += start / block * axis.stride;
      start %= block;
      continue;
    }
    if (block == 1) {
      result.offset += start * axis.stride;
      kept.push_back({count, axis.stride * step});
      return result;
    }
    if (step != 1 || start % block != 0 || count % block != 0) return std::nullopt;
    result.offset += start / block * axis.stride;
    kept.push_back({count / block, axis.stride});
    kept.insert(kept.end(), rest.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest.end());
    return result;
  }
  return result;
}

std::vector<size_t> all_dims(const Location& location) {
  std::vector<size_t> dims;
  for (size_t i = 0; i < location.dims.size(); ++i) dims.push_back(i);
  return dims;
}

std::optional<std::vector<Loop>> common_loops(std::span<const Location* const> locations,
                                              std::span<const size_t> dims) {
  std::vector<Loop> loops;
  for (const size_t dim : dims) {
    std::vector<Axes> lists;
    for (const Location* location : locations) lists.push_back(merged(location->dims[dim]));
    while (!lists[0].empty()) {
      if (!take_innermost(lists, loops)) return std::nullopt;
    }
  }
  const size_t last = locations.size() - 1;
  // Loops of one dimension are innermost first here, so a stable sort keeps their order.
  std::ranges::stable_sort(
      loops, [&](const Loop& a, const Loop& b) { return a.strides[last] < b.strides[last]; });
  std::ranges::reverse(loops);
  std::vector<Loop> joined;
  for (const Loop& loop : loops) {
    bool fits = !joined.empty();
    for (size_t i = 0; fits && i < locations.size(); ++i) {
      fits = joined.back().strides[i] == loop.size * loop.strides[i];
    }
    if (fits) {
      joined.back() = {joined.back().size * loop.size, loop.strides};
    } else {
      joined.push_back(loop);
    }
  }
  return joined;
}

}  // namespace thimble::engine::neutron
