// SPDX-License-Identifier: Apache-2.0
// Known integers: sums, products, extremes, any and all along dimensions, and differences.

#include <algorithm>
#include <utility>

#include "import/integer_array.h"

namespace thimble::import_pt2::integers {
namespace {

using Combine = int64_t (*)(int64_t, int64_t);

Folded cumulative_sum(const Reader& in) {
  auto x = in.operand("self");
  if (!x) return std::optional<Array>();
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  for_each_row(x->shape, dim, [&](size_t first, size_t step, size_t length) {
    for (size_t i = 1; i < length; ++i) {
      int64_t& value = x->values[first + i * step];
      value = add(value, x->values[first + (i - 1) * step]);
    }
  });
  return x;
}

/// Reduces `dim`, which is a number or a list, or all dimensions.
template <Combine f>
Folded reduced(const Reader& in) {
  auto x = in.operand("self");
  if (!x || x->values.empty()) return std::optional<Array>();
  const size_t rank = x->shape.size();
  std::vector<bool> removed(rank, !in.has("dim"));
  if (in.has("dim")) {
    THIMBLE_TRY(const Ints dims, in.call().dimensions("dim", rank));
    for (const int64_t dim : dims) {
      if (rank > 0) removed[static_cast<size_t>(dim)] = true;
    }
    if (dims.empty()) removed.assign(rank, true);
  }
  THIMBLE_TRY(const bool keep, in.call().boolean("keepdim", false));
  for (size_t dim = 0; dim < rank; ++dim) {
    if (!removed[dim]) continue;
    Array next{x->shape, {}};
    next.shape[dim] = 1;
    for_each_row(x->shape, dim, [&](size_t first, size_t step, size_t length) {
      int64_t total = x->values[first];
      for (size_t i = 1; i < length; ++i) total = f(total, x->values[first + i * step]);
      next.values.push_back(total);
    });
    x = std::move(next);
  }
  if (!keep) {
    Shape shape;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (!removed[dim]) shape.push_back(x->shape[dim]);
    }
    x->shape = std::move(shape);
  }
  return x;
}

/// Concatenates arrays of equal other sizes along a dimension. Returns nothing for other arrays,
/// and if the result does not fit.
std::optional<Array> joined(const Reader& in, const std::vector<Array>& parts, size_t dim) {
  Array result{parts[0].shape, {}};
  result.shape[dim] = 0;
  for (const Array& part : parts) {
    Shape shape = part.shape;
    if (shape.size() != result.shape.size()) return std::nullopt;
    result.shape[dim] += std::exchange(shape[dim], parts[0].shape[dim]);
    if (shape != parts[0].shape) return std::nullopt;
  }
  if (!in.fits(result.shape)) return std::nullopt;
  result.values.reserve(static_cast<size_t>(ir::element_count(result.shape)));
  int64_t outer = 1;
  for (size_t d = 0; d < dim; ++d) outer *= result.shape[d];
  for (int64_t o = 0; o < outer; ++o) {
    for (const Array& part : parts) {
      const auto block = static_cast<std::ptrdiff_t>(part.values.size()) / outer;
      const auto first = part.values.begin() + o * block;
      result.values.insert(result.values.end(), first, first + block);
    }
  }
  return result;
}

/// Differences of neighbours along a dimension, after values before and after it were added.
Folded difference(const Reader& in) {
  const auto times = in.call().integer("n", 1), dim_given = in.call().integer("dim", -1);
  if (!times.ok() || *times != 1 || !dim_given.ok()) return std::optional<Array>();
  std::vector<Array> parts;
  for (const std::string_view name : {"prepend", "self", "append"}) {
    if (name != "self" && !in.has(name)) continue;
    auto part = in.operand(name);
    if (!part) return std::optional<Array>();
    parts.push_back(std::move(*part));
  }
  const auto dim = normalized_dim(*dim_given, parts[0].shape.size());
  if (!dim || parts[0].shape.empty()) return std::optional<Array>();
  const auto axis = static_cast<size_t>(*dim);
  const auto all = joined(in, parts, axis);
  if (!all || all->shape[axis] < 2) return std::optional<Array>();
  Array result{all->shape, {}};
  --result.shape[axis];
  result.values.reserve(static_cast<size_t>(ir::element_count(result.shape)));
  const auto step = static_cast<size_t>(ir::strides(all->shape, {})[axis]);
  const auto length = static_cast<size_t>(all->shape[axis]);
  for (size_t i = 0; i < all->values.size(); ++i) {
    if (i / step % length + 1 == length) continue;
    result.values.push_back(subtract(all->values[i + step], all->values[i]));
  }
  return std::optional(std::move(result));
}

constexpr FoldRow kReductions[] = {
    {"aten.all.default", reduced<both>},      {"aten.all.dim", reduced<both>},
    {"aten.all.dims", reduced<both>},         {"aten.amax.default", reduced<larger>},
    {"aten.amin.default", reduced<smaller>},  {"aten.any.default", reduced<either>},
    {"aten.any.dim", reduced<either>},        {"aten.any.dims", reduced<either>},
    {"aten.cumsum.default", cumulative_sum},  {"aten.diff.default", difference},
    {"aten.max.default", reduced<larger>},    {"aten.min.default", reduced<smaller>},
    {"aten.prod.default", reduced<multiply>}, {"aten.prod.dim_int", reduced<multiply>},
    {"aten.sum.default", reduced<add>},       {"aten.sum.dim_IntList", reduced<add>},
};

}  // namespace

std::span<const FoldRow> reduction_folds() {
  return kReductions;
}

}  // namespace thimble::import_pt2::integers
