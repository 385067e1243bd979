// SPDX-License-Identifier: Apache-2.0
// Sorting as comparisons of all pairs: the rank of an element is the number of elements before it.
// The element of rank k is found as the one whose rank is nearest to k, which also holds if the
// ranks were quantized. Equal elements keep their order, as in a stable sort.

#include <numeric>

#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

// Limit of the elements of a row: a row of n elements needs n * n comparisons.
constexpr int64_t kRowMax = 512;

Result<ValueId> compare_pairs(Call& call, ValueId a, ValueId b, int64_t relation) {
  return call.add(OpKind::compare, {a, b}, {{ir::attr::relation, relation}});
}

/// Returns the number of elements before each element of the last dimension: those that are larger
/// (or smaller), and equal ones at lower positions.
Result<ValueId> ranks(Call& call, ValueId x, bool descending) {
  constexpr int64_t kEqual = 0, kLess = 2, kGreater = 4;
  ir::Shape column = call.shape(x), row = call.shape(x);
  const int64_t size = row.back();
  column.push_back(1);
  row.insert(row.end() - 1, 1);
  THIMBLE_TRY(const ValueId own, call.reshape(x, column));
  THIMBLE_TRY(const ValueId other, call.reshape(x, row));
  THIMBLE_TRY(const ValueId before, compare_pairs(call, other, own, descending ? kGreater : kLess));
  THIMBLE_TRY(const ValueId equal, compare_pairs(call, other, own, kEqual));
  ir::Tensor lower = ir::zeros(DType::kBool, {size, size});
  for (int64_t i = 0; i < size * size; ++i) {
    lower.data<uint8_t>()[static_cast<size_t>(i)] = i % size < i / size ? 1 : 0;
  }
  THIMBLE_TRY(const ValueId tie, call.add(OpKind::logical_and,
                                          {equal, call.constant_value("lower", std::move(lower))}));
  THIMBLE_TRY(const ValueId precedes, call.add(OpKind::logical_or, {before, tie}));
  THIMBLE_TRY(const ValueId ones,
              call.add(OpKind::where, {precedes, call.scalar(1), call.scalar(0)}));
  const auto last = static_cast<int64_t>(column.size()) - 1;
  return call.add(OpKind::sum, {ones}, {{ir::attr::dims, Ints{last}}});
}

/// Returns the positions of the first `count` elements in sorted order, along the last dimension.
Result<ValueId> sorted_positions(Call& call, ValueId x, int64_t count, bool descending) {
  THIMBLE_TRY(ValueId rank, ranks(call, x, descending));
  ir::Shape row = call.shape(rank);
  row.insert(row.end() - 1, 1);
  THIMBLE_TRY(rank, call.reshape(rank, row));
  ir::Tensor wanted = ir::zeros(DType::kF32, {count, 1});
  std::iota(wanted.data<float>().begin(), wanted.data<float>().end(), 0.0F);
  THIMBLE_TRY(const ValueId apart,
              call.add(OpKind::sub, {rank, call.constant_value("wanted", std::move(wanted))}));
  THIMBLE_TRY(const ValueId distance, call.add(OpKind::abs, {apart}));
  const auto last = static_cast<int64_t>(row.size()) - 1;
  return call.add(OpKind::argmax, {distance},
                  {{ir::attr::dim, last}, {ir::attr::smallest, int64_t{1}}});
}

struct Sorted {
  ValueId values = ir::kNoValue, positions = ir::kNoValue;
};

/// Sorts along `dim`; returns the first `count` elements, or all for a count of -1.
Result<Sorted> sorted_along(Call& call, int64_t count, bool descending) {
  THIMBLE_TRY(const ValueId x, call.any_tensor("self"));
  const ir::Shape shape = call.shape(x);
  THIMBLE_TRY(const int64_t dim, call.dimension("dim", shape.size(), -1));
  if (shape.empty()) {
    return Sorted{x, call.constant_value("position", ir::zeros(DType::kI64, {}))};
  }
  const int64_t size = shape[static_cast<size_t>(dim)];
  if (count == -1) count = size;
  if (count < 1 || count > size) return bad_input("argument k is {} for {} elements", count, size);
  if (size > kRowMax)
    return unsupported(
        "of {} elements, expected up to {}: take amax or argmax, or the topk of parts first", size,
        kRowMax);
  ir::Attrs exchange;  // of `dim` and the last dimension
  Ints dims(shape.size());
  std::iota(dims.begin(), dims.end(), 0);
  std::swap(dims[static_cast<size_t>(dim)], dims.back());
  exchange.set(ir::attr::dims, dims);
  THIMBLE_TRY(const ValueId rows, call.add(OpKind::permute, {x}, exchange));
  THIMBLE_TRY(const ValueId positions, sorted_positions(call, rows, count, descending));
  Sorted result;
  THIMBLE_TRY(result.positions, call.add(OpKind::permute, {positions}, exchange));
  THIMBLE_TRY(result.values,
              call.add(OpKind::gather_elements, {x, result.positions}, {{ir::attr::dim, dim}}));
  return result;
}

}  // namespace

namespace handlers {

Status sort(Call& call) {
  THIMBLE_TRY(const bool descending, call.boolean("descending", false));
  THIMBLE_TRY(const Sorted all, sorted_along(call, -1, descending));
  return call.results({all.values, all.positions});
}

Status argsort(Call& call) {
  THIMBLE_TRY(const bool descending, call.boolean("descending", false));
  THIMBLE_TRY(const Sorted all, sorted_along(call, -1, descending));
  return call.result(all.positions);
}

/// The order of equal elements, which PyTorch does not define, is that of their positions.
Status topk(Call& call) {
  THIMBLE_TRY(const bool largest, call.boolean("largest", true));
  THIMBLE_TRY(const int64_t count, call.integer("k"));
  if (count < 1) return unsupported("the result is empty");
  THIMBLE_TRY(const Sorted first, sorted_along(call, count, largest));
  return call.results({first.values, first.positions});
}

}  // namespace handlers
}  // namespace thimble::import_pt2
