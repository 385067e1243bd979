#include "engines/neutron/compiler/strided.h"

#include <algorithm>

namespace thimble::engine::neutron {
namespace {

int64_t size_of(const Factors& factors) {
  int64_t size = 1;
  for (const Factor& factor : factors) size *= factor.size;
  return size;
}

bool joins(const Factor& outer, const Factor& inner) {
  return outer.stride == inner.size * inner.stride;
}

/// Removes `size` elements from the outermost factors of a reversed list and returns them.
std::optional<Factors> taken(Factors& reversed, int64_t size) {
  Factors result;
  while (size > 1) {
    if (reversed.empty()) return std::nullopt;
    Factor& next = reversed.back();
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
bool take_innermost(std::vector<Factors>& lists, std::vector<Loop>& loops) {
  int64_t size = INT64_MAX;
  for (const Factors& list : lists) size = std::min(size, list.back().size);
  Loop loop{size, {}};
  for (Factors& list : lists) {
    Factor& last = list.back();
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

ir::Shape Strided::shape() const {
  ir::Shape result;
  for (const Factors& dim : dims) result.push_back(size_of(dim));
  return result;
}

int64_t Strided::elements() const {
  return ir::element_count(shape());
}

int64_t Strided::extent() const {
  int64_t last = 0;
  for (const Factors& dim : dims) {
    for (const Factor& factor : dim) last += (factor.size - 1) * factor.stride;
  }
  return last + 1;
}

std::optional<Factor> Strided::one(size_t dim) const {
  const Factors factors = merged(dims[dim]);
  if (factors.empty()) return Factor{1, 0};
  if (factors.size() > 1) return std::nullopt;
  return factors[0];
}

Factors merged(const Factors& factors) {
  Factors result;
  for (const Factor& factor : factors) {
    if (factor.size == 1) continue;
    if (!result.empty() && joins(result.back(), factor)) {
      result.back() = {result.back().size * factor.size, factor.stride};
    } else {
      result.push_back(factor);
    }
  }
  return result;
}

bool same_layout(const Strided& a, const Strided& b) {
  if (a.buffer != b.buffer || a.offset != b.offset || a.dims.size() != b.dims.size()) return false;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (merged(a.dims[i]) != merged(b.dims[i])) return false;
  }
  return true;
}

Strided dense(int buffer, const ir::Shape& shape, const ir::DimOrder& order) {
  const std::vector<int64_t> strides = ir::strides(shape, order);
  Strided result{buffer, 0, {}};
  for (size_t i = 0; i < shape.size(); ++i) {
    result.dims.push_back(shape[i] == 1 ? Factors{} : Factors{{shape[i], strides[i]}});
  }
  return result;
}

Strided permuted(const Strided& from, std::span<const int64_t> dims) {
  Strided result{from.buffer, from.offset, {}};
  for (const int64_t dim : dims) result.dims.push_back(from.dims[static_cast<size_t>(dim)]);
  return result;
}

Strided unpermuted(const Strided& from, std::span<const int64_t> dims) {
  Strided result = from;
  for (size_t i = 0; i < dims.size(); ++i) {
    result.dims[static_cast<size_t>(dims[i])] = from.dims[i];
  }
  return result;
}

Strided broadcast(const Strided& from, const ir::Shape& shape) {
  Strided result{from.buffer, from.offset, {}};
  const size_t added = shape.size() - from.dims.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool there = i >= added && size_of(from.dims[i - added]) == shape[i];
    result.dims.push_back(there           ? from.dims[i - added]
                          : shape[i] == 1 ? Factors{}
                                          : Factors{{shape[i], 0}});
  }
  return result;
}

std::optional<Strided> reshaped(const Strided& from, const ir::Shape& shape) {
  Factors flat;
  for (const Factors& dim : from.dims) flat.insert(flat.end(), dim.begin(), dim.end());
  flat = merged(flat);
  std::ranges::reverse(flat);
  Strided result{from.buffer, from.offset, {}};
  for (const int64_t size : shape) {
    auto factors = taken(flat, size);
    if (!factors) return std::nullopt;
    result.dims.push_back(*std::move(factors));
  }
  return result;
}

std::optional<Strided> sliced(const Strided& from, size_t dim, int64_t start, int64_t count,
                              int64_t step) {
  Strided result = from;
  Factors rest = merged(from.dims[dim]);
  if (size_of(rest) == 1) return result;
  Factors& kept = result.dims[dim];
  kept.clear();
  // Skip outer factors in which the slice covers a single index; slice the next one.
  for (size_t i = 0; i < rest.size(); ++i) {
    const int64_t block = size_of({rest.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest.end()});
    const Factor& factor = rest[i];
    const int64_t last = start + (count - 1) * step;
    if (start / block == last / block) {
      result.offset += start / block * factor.stride;
      start %= block;
      continue;
    }
    if (block == 1) {
      result.offset += start * factor.stride;
      kept.push_back({count, factor.stride * step});
      return result;
    }
    if (step != 1 || start % block != 0 || count % block != 0) return std::nullopt;
    result.offset += start / block * factor.stride;
    kept.push_back({count / block, factor.stride});
    kept.insert(kept.end(), rest.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest.end());
    return result;
  }
  return result;
}

std::vector<size_t> all_dims(const Strided& place) {
  std::vector<size_t> dims;
  for (size_t i = 0; i < place.dims.size(); ++i) dims.push_back(i);
  return dims;
}

std::optional<std::vector<Loop>> common_loops(std::span<const Strided* const> places,
                                              std::span<const size_t> dims) {
  std::vector<Loop> loops;
  for (const size_t dim : dims) {
    std::vector<Factors> lists;
    for (const Strided* place : places) lists.push_back(merged(place->dims[dim]));
    while (!lists[0].empty()) {
      if (!take_innermost(lists, loops)) return std::nullopt;
    }
  }
  const size_t last = places.size() - 1;
  // Loops of one dimension are innermost first here, so a stable sort keeps their order.
  std::ranges::stable_sort(
      loops, [&](const Loop& a, const Loop& b) { return a.strides[last] < b.strides[last]; });
  std::ranges::reverse(loops);
  std::vector<Loop> joined;
  for (const Loop& loop : loops) {
    bool fits = !joined.empty();
    for (size_t i = 0; fits && i < places.size(); ++i) {
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
