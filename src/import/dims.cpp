// SPDX-License-Identifier: Apache-2.0
// Permuting and repeating dimensions.

#include <algorithm>
#include <numeric>

#include "import/handlers.h"
#include "ir/infer.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

Result<Ints> identity(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  Ints dims(call.shape(x).size());
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Status permuted_view(Call& call, Ints dims) {
  return call.view({permute_step(std::move(dims))});
}

Status exchanged(Call& call, std::string_view first, std::string_view second) {
  THIMBLE_TRY(Ints dims, identity(call));
  THIMBLE_TRY(const int64_t a, call.dimension(first, dims.size()));
  THIMBLE_TRY(const int64_t b, call.dimension(second, dims.size()));
  if (!dims.empty()) std::swap(dims[static_cast<size_t>(a)], dims[static_cast<size_t>(b)]);
  return permuted_view(call, std::move(dims));
}

Status expanded(Call& call, Ints sizes) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape& shape = call.shape(x);
  if (sizes.size() < shape.size()) {
    return bad_input("size {} for shape {}", ir::list_text(sizes), ir::list_text(shape));
  }
  const size_t added = sizes.size() - shape.size();
  for (size_t i = added; i < sizes.size(); ++i) {
    if (sizes[i] == -1) sizes[i] = shape[i - added];
  }
  return call.view({expand_step(std::move(sizes))});
}

/// Inserts a dimension of size 1 before each repeated dimension, expands it and merges it.
Status repeated(Call& call, ValueId x, const Ints& repeats) {
  ir::Shape shape = call.shape(x);
  shape.insert(shape.begin(), repeats.size() - shape.size(), 1);
  ir::Shape split, grown, joined;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (repeats[i] < 1) {
      return bad_input("argument repeats is {}, expected numbers of at least 1",
                       ir::list_text(repeats));
    }
    if (repeats[i] != 1 && shape[i] != 1) {
      split.push_back(1);
      grown.push_back(repeats[i]);
    }
    split.push_back(shape[i]);
    grown.push_back(shape[i] == 1 ? repeats[i] : shape[i]);
    joined.push_back(shape[i] * repeats[i]);
  }
  THIMBLE_TRY(x, call.reshape(x, split));
  THIMBLE_TRY(x, call.add(OpKind::expand, {x}, {{ir::attr::shape, grown}}));
  return call.result(call.reshape(x, joined));
}

}  // namespace

namespace handlers {

Status permute(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(Ints dims, call.dimensions("dims", call.shape(x).size()));
  return permuted_view(call, std::move(dims));
}

Status transpose(Call& call) {
  return exchanged(call, "dim0", "dim1");
}
Status swapaxes(Call& call) {
  return exchanged(call, "axis0", "axis1");
}

Status numpy_T(Call& call) {
  THIMBLE_TRY(Ints dims, identity(call));
  std::reverse(dims.begin(), dims.end());
  return permuted_view(call, std::move(dims));
}

Status mT(Call& call) {
  THIMBLE_TRY(Ints dims, identity(call));
  if (dims.size() < 2) return bad_input("the input has rank {}, expected 2 or more", dims.size());
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return permuted_view(call, std::move(dims));
}

/// The moved dimensions get the given positions; the others fill the remaining positions in order.
Status movedim(Call& call) {
  THIMBLE_TRY(const Ints all, identity(call));
  THIMBLE_TRY(const Ints from, call.dimensions("source", all.size()));
  THIMBLE_TRY(const Ints to, call.dimensions("destination", all.size()));
  if (from.size() != to.size() || all.empty()) return bad_input("source and destination differ");
  Ints dims(all.size(), -1);
  for (size_t i = 0; i < from.size(); ++i) dims[static_cast<size_t>(to[i])] = from[i];
  auto place = dims.begin();
  for (const int64_t dim : all) {
    if (std::find(from.begin(), from.end(), dim) != from.end()) continue;
    place = std::find(place, dims.end(), -1);
    if (place == dims.end()) return bad_input("destination names a dimension twice");
    *place = dim;
  }
  return permuted_view(call, std::move(dims));
}

/// A view: with the two dimensions merged into one, the elements have equal distances.
Status diagonal(Call& call) {
  THIMBLE_TRY(Ints dims, identity(call));
  THIMBLE_TRY(const ir::ValueId x, call.any_tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t row, call.dimension("dim1", dims.size(), 0));
  THIMBLE_TRY(const int64_t column, call.dimension("dim2", dims.size(), 1));
  THIMBLE_TRY(const int64_t offset, call.integer("offset", 0));
  if (row == column || dims.size() < 2) return bad_input("dimensions {} and {}", row, column);
  std::erase_if(dims, [&](int64_t dim) { return dim == row || dim == column; });
  dims.insert(dims.end(), {row, column});
  const int64_t rows = shape[static_cast<size_t>(row)];
  const int64_t columns = shape[static_cast<size_t>(column)];
  const int64_t length =
      std::min(rows - std::max<int64_t>(-offset, 0), columns - std::max<int64_t>(offset, 0));
  if (length < 1)
    return bad_input("offset is {} for {} rows and {} columns", offset, rows, columns);
  ir::Shape merged;
  for (size_t i = 0; i + 2 < dims.size(); ++i)
    merged.push_back(shape[static_cast<size_t>(dims[i])]);
  merged.push_back(rows * columns);
  const int64_t first = offset < 0 ? -offset * columns : offset;
  return call.view({permute_step(dims), reshape_step(merged),
                    slice_step(static_cast<int64_t>(merged.size()) - 1, first,
                               first + (length - 1) * (columns + 1) + 1, columns + 1)});
}

Status expand(Call& call) {
  THIMBLE_TRY(Ints sizes, call.integers("size"));
  return expanded(call, std::move(sizes));
}

Status expand_as(Call& call) {
  THIMBLE_TRY(const ValueId other, call.any_tensor("other"));
  return expanded(call, call.shape(other));
}

/// Expands each vector along its own dimension of a common grid.
Status meshgrid(Call& call) {
  THIMBLE_TRY(std::vector<ValueId> vectors, call.tensors("tensors"));
  THIMBLE_TRY(const std::string indexing, call.text("indexing", "ij"));
  ir::Shape grid;
  for (const ValueId vector : vectors) grid.push_back(ir::element_count(call.shape(vector)));
  const bool swapped = indexing == "xy" && grid.size() > 1;
  if (swapped) std::swap(grid[0], grid[1]);
  for (size_t i = 0; i < vectors.size(); ++i) {
    const size_t dim = swapped && i < 2 ? 1 - i : i;
    ir::Shape along(grid.size(), 1);
    along[dim] = grid[dim];
    THIMBLE_TRY(vectors[i], call.reshape(vectors[i], along));
    THIMBLE_TRY(vectors[i], call.add(OpKind::expand, {vectors[i]}, {{ir::attr::shape, grid}}));
  }
  return call.results(vectors);
}

Status broadcast_tensors(Call& call) {
  THIMBLE_TRY(std::vector<ValueId> parts, call.tensors("tensors"));
  ir::Shape joint;
  for (const ValueId part : parts) {
    const auto shape = ir::broadcast_shape(joint, call.shape(part));
    if (!shape) return bad_input("the tensors do not broadcast");
    joint = *shape;
  }
  for (ValueId& part : parts) {
    THIMBLE_TRY(part, call.add(OpKind::expand, {part}, {{ir::attr::shape, joint}}));
  }
  return call.results(parts);
}

Status repeat(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(const Ints repeats, call.integers("repeats"));
  if (repeats.size() < call.shape(x).size()) {
    return bad_input("repeats {} for shape {}", ir::list_text(repeats),
                     ir::list_text(call.shape(x)));
  }
  return repeated(call, x, repeats);
}

/// As repeat, but missing repeat counts are 1.
Status tile(Call& call) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  THIMBLE_TRY(Ints repeats, call.integers("dims"));
  const size_t rank = call.shape(x).size();
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return repeated(call, x, repeats);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
