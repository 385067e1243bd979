// SPDX-License-Identifier: Apache-2.0
// Writes at positions given by a tensor. Models update caches and buffers with these operators.

#include <algorithm>
#include <functional>
#include <optional>

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"
#include "import/mask_positions.h"
#include "import/put_known.h"

namespace thimble::import_pt2 {
namespace {

using ir::OpKind;
using ir::ValueId;

/// The written tensor, the positions, and the dimension that they index.
struct Place {
  ValueId self = ir::kNoValue;
  ValueId index = ir::kNoValue;  // i64, rank 0 or 1
  int64_t dim = 0;
};

/// Writes at constant positions: each position gets its slice of `part`, which has self's rank.
Result<ValueId> write_known(Call& call, const Place& place, const ir::Tensor& positions,
                            ValueId part) {
  const int64_t size = call.shape(place.self)[static_cast<size_t>(place.dim)];
  ValueId y = place.self;
  const auto given_positions = positions.data<int64_t>();
  const auto is_next = [](int64_t a, int64_t b) { return b == a + 1; };
  const bool adjacent =
      std::ranges::adjacent_find(given_positions, std::not_fn(is_next)) == given_positions.end();
  if (adjacent && !given_positions.empty() && given_positions.front() >= 0 &&
      given_positions.back() < size) {
    return call.write_through(
        {slice_step(place.dim, given_positions.front(), given_positions.back() + 1)}, y, part);
  }
  for (size_t i = 0; i < positions.data<int64_t>().size(); ++i) {
    const int64_t given = positions.data<int64_t>()[i];
    const int64_t at = given < 0 ? given + size : given;
    if (at < 0 || at >= size) {
      return bad_input("index {} of a dimension with {} elements", given, size);
    }
    const int64_t from = static_cast<int64_t>(i);
    THIMBLE_TRY(const ValueId one, call.apply({slice_step(place.dim, from, from + 1)}, part));
    THIMBLE_TRY(y, call.write_through({slice_step(place.dim, at, at + 1)}, y, one));
  }
  return y;
}

/// Writes at one computed position: selects `part` where the index equals the position.
Result<ValueId> write_at(Call& call, const Place& place, ValueId part) {
  const ir::Shape shape = call.shape(place.self);
  const size_t dim = static_cast<size_t>(place.dim);
  ir::Shape along(shape.size(), 1);
  along[dim] = shape[dim];
  THIMBLE_TRY(ir::Tensor numbers, call.new_constant(ir::DType::kI64, along));
  for (int64_t i = 0; i < shape[dim]; ++i) numbers.data<int64_t>()[static_cast<size_t>(i)] = i;
  const ValueId positions = call.constant_value("positions", std::move(numbers));
  THIMBLE_TRY(const ValueId index, call.reshape(place.index, ir::Shape(shape.size(), 1)));
  THIMBLE_TRY(const ValueId here,
              call.add(OpKind::compare, {positions, index}, {{ir::attr::relation, int64_t{0}}}));
  return call.add(OpKind::where, {here, part, place.self});
}

/// Writes `values`, which broadcasts to self with the number of positions as size of the dimension.
Status write(Call& call, const Place& place, ValueId values) {
  const ir::Graph& graph = call.builder().graph;
  if (graph.type(place.index).dtype != ir::DType::kI64) {
    return unsupported("positions in {}, expected int64: convert them with .long()",
                       ir::dtype_name(graph.type(place.index).dtype));
  }
  const ir::Shape positions = call.shape(place.index);
  if (positions.size() > 1)
    return unsupported("positions of rank {}: reshape them to one dimension", positions.size());
  ir::Shape shape = call.shape(place.self);
  shape[static_cast<size_t>(place.dim)] = positions.empty() ? 1 : positions[0];
  // With a scalar position, the values do not have the indexed dimension either.
  if (positions.empty() && !call.shape(values).empty()) {
    ir::Shape narrow = call.shape(values);
    const size_t behind = call.shape(place.self).size() - 1 - static_cast<size_t>(place.dim);
    if (narrow.size() >= behind) {
      narrow.insert(narrow.end() - static_cast<std::ptrdiff_t>(behind), 1);
    }
    THIMBLE_TRY(values, call.reshape(values, narrow));
  }
  THIMBLE_TRY(const ValueId part, call.add(OpKind::expand, {values}, {{ir::attr::shape, shape}}));
  const ir::Tensor* known = call.builder().constant_of(place.index);
  if (known != nullptr) {
    const ir::Tensor held = *known;
    return call.result(write_known(call, place, held, part));
  }
  if (shape[static_cast<size_t>(place.dim)] != 1) {
    return unsupported("{} positions computed at run time, expected at most one: use scatter",
                       shape[static_cast<size_t>(place.dim)]);
  }
  return call.result(write_at(call, place, part));
}

/// x[mask] = number, where the mask covers the first dimensions of x.
Result<ValueId> write_number(Call& call, ValueId x, ValueId mask) {
  const ir::DType dtype = call.builder().graph.type(x).dtype;
  THIMBLE_TRY(ValueId number, operand_as(call, "values", dtype));
  THIMBLE_TRY(number, call.reshape(number, {}));
  ir::Shape shape = call.shape(mask);
  if (shape.size() > call.shape(x).size()) {
    return bad_input("a mask of rank {} for {} dimensions", shape.size(), call.shape(x).size());
  }
  shape.resize(call.shape(x).size(), 1);
  THIMBLE_TRY(const ValueId wide, call.reshape(mask, shape));
  return call.add(OpKind::where, {wide, number, x});
}

/// x[mask] = values: a number, or one value for each true element of a known mask.
Status write_masked(Call& call, Place place) {
  if (place.dim == 0 && ir::element_count(call.shape(place.index)) > 0) {
    THIMBLE_TRY(const ValueId values, call.any_tensor("values"));
    if (ir::element_count(call.shape(values)) == 1) {
      return call.result(write_number(call, place.self, place.index));
    }
  }
  const std::optional<KnownMask> mask = known_mask(call, place.index);
  if (!mask) {
    return unsupported(
        "the mask is computed at run time, and values has more than one element: use "
        "torch.where(mask, values, x) with values in the shape of x");
  }
  if (mask->selected.empty()) return call.result(place.self);
  const ir::Shape shape = call.shape(place.self);
  THIMBLE_TRY(ValueId y,
              merge_masked_dims(call, place.self, static_cast<size_t>(place.dim), *mask));
  ir::Tensor positions = ir::zeros(ir::DType::kI64, {static_cast<int64_t>(mask->selected.size())});
  std::copy(mask->selected.begin(), mask->selected.end(), positions.data<int64_t>().begin());
  ir::Shape part = call.shape(y);
  part[static_cast<size_t>(place.dim)] = positions.shape[0];
  THIMBLE_TRY(const ValueId values, call.tensor("values"));
  THIMBLE_TRY(const ValueId rows, call.add(OpKind::expand, {values}, {{ir::attr::shape, part}}));
  place.self = y;
  THIMBLE_TRY(y, write_known(call, place, positions, rows));
  return call.result(call.reshape(y, shape));
}

}  // namespace

namespace handlers {

Status index_copy(Call& call) {
  Place place;
  THIMBLE_TRY(place.self, call.tensor("self"));
  THIMBLE_TRY(place.index, call.any_tensor("index"));
  THIMBLE_TRY(const ValueId source, call.tensor("source"));
  THIMBLE_TRY(place.dim, call.dimension("dim", call.shape(place.self).size()));
  if (call.shape(place.self).size() != call.shape(source).size()) {
    return unsupported("a source of rank {}", call.shape(source).size());
  }
  // index_put accepts negative positions; index_copy does not.
  if (!call.shape(place.self).empty()) {
    call.note_position(place.index, call.shape(place.self)[static_cast<size_t>(place.dim)]);
  }
  return write(call, place, source);
}

Status index_put(Call& call) {
  Place place;
  THIMBLE_TRY(place.self, call.any_tensor("self"));
  if (call.is_empty("values")) return call.result(place.self);
  THIMBLE_TRY(const std::vector<ValueId> indices, call.optional_tensors("indices"));
  THIMBLE_TRY(const bool accumulates, call.boolean("accumulate", false));
  const auto given = std::ranges::count_if(indices, [](ValueId id) { return id != ir::kNoValue; });
  if (indices.size() <= call.shape(place.self).size() && (accumulates || given > 1)) {
    THIMBLE_TRY(const ValueId self, call.tensor("self"));
    THIMBLE_TRY(const ValueId values, call.tensor("values"));
    THIMBLE_TRY(const ValueId y, put_known(call, self, indices, values, accumulates));
    if (y != ir::kNoValue) return call.result(y);
    return unsupported(
        "{} need constant indices of adjacent dimensions: use scatter{} along one dimension",
        accumulates ? "sums at positions" : "positions along several dimensions",
        accumulates ? "_add" : "");
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] == ir::kNoValue) continue;
    place.index = indices[i];
    place.dim = static_cast<int64_t>(i);
  }
  if (place.index == ir::kNoValue) return bad_input("argument indices has no tensor");
  if (indices.size() > call.shape(place.self).size()) {
    return bad_input("argument indices has {} entries for {} dimensions", indices.size(),
                     call.shape(place.self).size());
  }
  if (call.builder().graph.type(place.index).dtype == ir::DType::kBool) {
    return write_masked(call, place);
  }
  THIMBLE_TRY(place.self, call.tensor("self"));
  THIMBLE_TRY(const ValueId values, call.tensor("values"));
  return write(call, place, values);
}

}  // namespace handlers
}  // namespace thimble::import_pt2
