// SPDX-License-Identifier: Apache-2.0
// Known integers: selection by index, repetition and triangles.

#include <algorithm>

#include "import/integer_array.h"

namespace thimble::import_pt2::integers {
namespace {

/// Returns x[..., index, ...] along `dim`.
Folded selected(const Reader& in, const Array& x, size_t dim, const Array& index) {
  if (x.shape.empty()) return std::optional<Array>();
  Shape shape(x.shape.begin(), x.shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(shape.end(), index.shape.begin(), index.shape.end());
  const auto tail = x.shape.begin() + static_cast<std::ptrdiff_t>(dim) + 1;
  shape.insert(shape.end(), tail, x.shape.end());
  if (!in.fits(shape)) return std::optional<Array>();
  const int64_t size = x.shape[dim];
  const int64_t inner = ir::element_count(Shape(tail, x.shape.end()));
  const int64_t outer = ir::element_count(Shape(x.shape.begin(), tail - 1));
  Array result{std::move(shape), {}};
  result.values.reserve(static_cast<size_t>(ir::element_count(result.shape)));
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t given : index.values) {
      const int64_t at = given < 0 ? given + size : given;
      if (at < 0 || at >= size) return bad_input("index {} of {} elements", given, size);
      const auto first = x.values.begin() + (o * size + at) * inner;
      result.values.insert(result.values.end(), first, first + inner);
    }
  }
  return std::optional(std::move(result));
}

Folded index_select(const Reader& in) {
  const auto x = in.operand("self"), index = in.operand("index");
  if (!x || !index) return std::optional<Array>();
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  return selected(in, *x, dim, *index);
}

Folded embedding(const Reader& in) {
  const auto x = in.operand("weight"), index = in.operand("indices");
  if (!x || !index) return std::optional<Array>();
  return selected(in, *x, 0, *index);
}

/// Returns x[index, ...]: adjacent dimensions that are indexed by arrays become one dimension.
Folded indexed(const Reader& in) {
  auto x = in.operand("self");
  const auto ids = in.call().optional_tensors("indices");
  if (!x || !ids.ok() || ids->size() > x->shape.size()) return std::optional<Array>();
  Array source{{}, std::move(x->values)};  // its dimension `at` is the product of the indexed ones
  size_t at = 0, end = 0;                  // `end` is 0 before the first index
  std::optional<Array> linear;
  for (size_t dim = 0; dim < x->shape.size(); ++dim) {
    const int64_t size = x->shape[dim];
    if (dim >= ids->size() || (*ids)[dim] == ir::kNoValue) {
      source.shape.push_back(size);
      continue;
    }
    const ir::Tensor* held = in.call().builder().constant_of((*ids)[dim]);
    if (held == nullptr || held->dtype == DType::kBool) return std::optional<Array>();
    if (end != 0 && end != dim) return std::optional<Array>();  // not adjacent
    Array index = Reader::array_of(*held);
    for (int64_t& value : index.values) {
      if (value < -size || value >= size) return bad_input("index {} of {} elements", value, size);
      if (value < 0) value += size;
    }
    if (end == 0) {
      at = dim;
      source.shape.push_back(size);
      linear = std::move(index);
    } else {
      const auto shape = in.joint_shape(linear->shape, index.shape);
      if (!shape) return std::optional<Array>();
      Array joint{*shape, broadcast(*linear, *shape)};
      const std::vector<int64_t> inner = broadcast(index, *shape);
      for (size_t i = 0; i < inner.size(); ++i) joint.values[i] = joint.values[i] * size + inner[i];
      source.shape[at] *= size;
      linear = std::move(joint);
    }
    end = dim + 1;
  }
  if (!linear) return std::optional<Array>();
  return selected(in, source, at, *linear);
}

/// Returns each element at its own index along `dim`.
Folded gathered(const Reader& in) {
  const auto x = in.operand("self"), index = in.operand("index");
  if (!x || !index || x->shape.empty() || index->shape.size() != x->shape.size()) {
    return std::optional<Array>();
  }
  THIMBLE_TRY(const size_t dim, dimension(in, *x));
  const auto steps = ir::strides(x->shape, {}), index_steps = ir::strides(index->shape, {});
  Array result{index->shape, {}};
  result.values.reserve(index->values.size());
  for (size_t i = 0; i < index->values.size(); ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < x->shape.size(); ++d) {
      int64_t at = static_cast<int64_t>(i) / index_steps[d] % index->shape[d];
      if (d == dim) at = index->values[i] + (index->values[i] < 0 ? x->shape[d] : 0);
      if (at < 0 || at >= x->shape[d]) return bad_input("index {} of {} elements", at, x->shape[d]);
      offset += at * steps[d];
    }
    result.values.push_back(x->values[static_cast<size_t>(offset)]);
  }
  return std::optional(std::move(result));
}

/// Repeats elements without a limit of the growth, which the IR's fold has.
Folded expanded(const Reader& in) {
  const auto x = in.operand("self");
  const auto size = in.call().integers("size");
  if (!x || !size.ok() || size->size() < x->shape.size()) return std::optional<Array>();
  Shape shape = *size;
  const size_t added = shape.size() - x->shape.size();
  for (size_t i = 0; i < x->shape.size(); ++i) {
    if (shape[added + i] == -1) shape[added + i] = x->shape[i];
  }
  const auto joint = in.joint_shape(x->shape, shape);
  if (!joint || *joint != shape) return std::optional<Array>();
  return std::optional(Array{shape, broadcast(*x, shape)});
}

/// Returns windows along a dimension, as a new last dimension.
Folded unfolded(const Reader& in) {
  const auto x = in.operand("self");
  const auto size = in.call().integer("size"), step = in.call().integer("step");
  if (!x || x->shape.empty() || !size.ok() || !step.ok()) return std::optional<Array>();
  const auto given = in.call().dimension("dimension", x->shape.size());
  if (!given.ok() || *size < 1 || *step < 1) return std::optional<Array>();
  const auto dim = static_cast<size_t>(*given);
  if (*size > x->shape[dim]) return std::optional<Array>();
  Array result{x->shape, {}};
  result.shape[dim] = (x->shape[dim] - *size) / *step + 1;
  result.shape.push_back(*size);
  if (!in.fits(result.shape)) return std::optional<Array>();
  const int64_t count = ir::element_count(result.shape);
  result.values.reserve(static_cast<size_t>(count));
  const auto steps = ir::strides(x->shape, {}), to = ir::strides(result.shape, {});
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = i % *size * steps[dim];
    for (size_t d = 0; d < steps.size(); ++d) {
      offset += i / to[d] % result.shape[d] * steps[d] * (d == dim ? *step : 1);
    }
    result.values.push_back(x->values[static_cast<size_t>(offset)]);
  }
  return std::optional(std::move(result));
}

/// Keeps one triangle of the last two dimensions.
template <bool kLower>
Folded triangle(const Reader& in) {
  auto x = in.operand("self");
  const auto diagonal = in.call().integer("diagonal", 0);
  if (!x || !diagonal.ok() || x->shape.size() < 2) return std::optional<Array>();
  const int64_t rows = x->shape[x->shape.size() - 2], columns = x->shape.back();
  for (size_t i = 0; i < x->values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t row = at / columns % rows;
    const int64_t offset = at % columns - row;
    if (kLower ? offset > *diagonal : offset < *diagonal) x->values[i] = 0;
  }
  return x;
}

constexpr FoldRow kIndexing[] = {
    {"aten.embedding.default", embedding},       {"aten.expand.default", expanded},
    {"aten.gather.default", gathered},           {"aten.index.Tensor", indexed},
    {"aten.index_select.default", index_select}, {"aten.tril.default", triangle<true>},
    {"aten.triu.default", triangle<false>},      {"aten.unfold.default", unfolded},
};

}  // namespace

std::span<const FoldRow> indexing_folds() {
  return kIndexing;
}

}  // namespace thimble::import_pt2::integers
