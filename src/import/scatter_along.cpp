// SPDX-License-Identifier: Apache-2.0
// Writes along one dimension at an index per element: scatter, scatter_add, scatter_reduce. The
// index is compared with all positions of the dimension, so it may be computed at run time.

#include <algorithm>
#include <numeric>

#include "import/constants.h"
#include "import/formula.h"
#include "import/handlers.h"

namespace thimble::import_pt2 {
namespace {

using ir::DType;
using ir::OpKind;
using ir::ValueId;

constexpr int64_t kComparisonsMax = int64_t{1} << 22;
constexpr int64_t kWritesMax = 256;  // writes one after the other along the dimension

/// self is [a, J, b], index and source are [a, I, b], with any dimensions a and b.
struct Scatter {
  ValueId self = ir::kNoValue, index = ir::kNoValue, source = ir::kNoValue;
  View part;  // the elements of self that the index covers in other dimensions
  ValueId whole = ir::kNoValue;
  int64_t dim = 0, rows = 0, size = 0;  // I, J
};

/// Reads the arguments. A number as source becomes a constant.
Result<Scatter> read_scatter(Call& call, std::string_view source) {
  Scatter s;
  THIMBLE_TRY(s.whole, call.any_tensor("self"));
  THIMBLE_TRY(s.index, call.any_tensor("index"));
  const ir::Shape shape = call.shape(s.whole), index = call.shape(s.index);
  const DType dtype = call.builder().graph.type(s.whole).dtype;
  const DType index_dtype = call.builder().graph.type(s.index).dtype;
  if (index_dtype != DType::kI64 && index_dtype != DType::kI32) {
    return unsupported("an index of {}, expected int64: convert it with .long()",
                       ir::dtype_name(index_dtype));
  }
  THIMBLE_TRY(s.dim, call.dimension("dim", shape.size()));
  if (shape.empty() || index.size() != shape.size()) {
    return unsupported("self is {} and index is {}", ir::list_text(shape), ir::list_text(index));
  }
  THIMBLE_TRY(s.source, operand_as(call, source, dtype));
  const bool number = call.shape(s.source).empty();
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto axis = static_cast<int64_t>(i);
    if (axis != s.dim && index[i] < shape[i]) s.part.push_back(slice_step(axis, 0, index[i]));
    if (number) continue;
    THIMBLE_TRY(s.source, call.apply({slice_step(axis, 0, index[i])}, s.source));
  }
  if (number) {
    THIMBLE_TRY(s.source, call.add(OpKind::expand, {s.source}, {{ir::attr::shape, index}}));
  }
  THIMBLE_TRY(s.self, call.apply(s.part, s.whole));
  s.rows = index[static_cast<size_t>(s.dim)];
  s.size = shape[static_cast<size_t>(s.dim)];
  if (ir::element_count(index) > kComparisonsMax / s.size) {
    return unsupported("{} indices of {} positions", ir::element_count(index), s.size);
  }
  return s;
}

Status write_part(Call& call, const Scatter& s, Result<ValueId> part) {
  THIMBLE_TRY(const ValueId value, std::move(part));
  return call.result(call.write_through(s.part, s.whole, value));
}

/// Positions 0 to J - 1 along dimension `dim` of a tensor of this rank.
Result<ValueId> all_positions(Call& call, const Scatter& s, size_t rank, int64_t dim) {
  ir::Shape shape(rank, 1);
  shape[static_cast<size_t>(dim)] = s.size;
  const DType dtype = call.builder().graph.type(s.index).dtype;
  THIMBLE_TRY(ir::Tensor numbers, call.new_constant(dtype, shape));
  for (int64_t i = 0; i < s.size; ++i) {
    set_element(numbers, static_cast<size_t>(i), static_cast<double>(i));
  }
  return call.constant_value("positions", std::move(numbers));
}

/// Inserts a dimension of size 1 after `dim`: [a, I, 1, b].
Result<ValueId> opened(Call& call, ValueId x, int64_t dim) {
  ir::Shape shape = call.shape(x);
  shape.insert(shape.begin() + dim + 1, 1);
  return call.reshape(x, shape);
}

/// Returns [a, I, J, b]: true where the index is the position.
Result<ValueId> hits(Call& call, const Scatter& s) {
  THIMBLE_TRY(const ValueId index, opened(call, s.index, s.dim));
  const size_t rank = call.shape(index).size();
  THIMBLE_TRY(const ValueId all, all_positions(call, s, rank, s.dim + 1));
  return call.add(OpKind::compare, {index, all},
                  {{ir::attr::relation, static_cast<int64_t>(Relation::kEq)}});
}

/// Returns [a, J, b]: true where something is written. Halves of the rows are combined until one
/// row is left.
Result<ValueId> is_written(Call& call, const Scatter& s, ValueId hits) {
  ir::Shape shape = call.shape(hits);
  for (int64_t rows = s.rows; rows > 1;) {
    const int64_t half = (rows + 1) / 2;  // the middle row of an odd number is in both
    THIMBLE_TRY(const ValueId first, call.apply({slice_step(s.dim, 0, half)}, hits));
    THIMBLE_TRY(const ValueId second, call.apply({slice_step(s.dim, rows - half, rows)}, hits));
    THIMBLE_TRY(hits, call.add(OpKind::logical_or, {first, second}));
    rows = half;
  }
  shape.erase(shape.begin() + s.dim);
  return call.reshape(hits, shape);
}

Result<ValueId> sum_of_hits(Call& call, const Scatter& s, ValueId hits, ValueId values) {
  THIMBLE_TRY(const ValueId chosen, call.add(OpKind::where, {hits, values, call.scalar(0)}));
  return call.add(OpKind::sum, {chosen}, {{ir::attr::dims, Ints{s.dim}}});
}

/// Writes the rows of the source one after the other: y becomes step(y, row, has the position been
/// written, is it written now).
using WriteStep = Result<ValueId> (*)(Call&, ValueId y, ValueId row, ValueId written, ValueId now);

Result<ValueId> write_rows(Call& call, const Scatter& s, ValueId y, WriteStep step) {
  if (s.rows > kWritesMax)
    return unsupported(
        "{} writes, expected up to {}: write fewer positions, or use constant positions", s.rows,
        kWritesMax);
  const ir::Shape shape = call.shape(y);
  THIMBLE_TRY(const ValueId all, all_positions(call, s, shape.size(), s.dim));
  THIMBLE_TRY(ir::Tensor none, call.new_constant(DType::kBool, shape));
  ValueId written = call.constant_value("written", std::move(none));
  for (int64_t i = 0; i < s.rows; ++i) {
    THIMBLE_TRY(const ValueId at, call.apply({slice_step(s.dim, i, i + 1)}, s.index));
    THIMBLE_TRY(const ValueId row, call.apply({slice_step(s.dim, i, i + 1)}, s.source));
    THIMBLE_TRY(const ValueId here,
                call.add(OpKind::compare, {at, all}, {{ir::attr::relation, int64_t{0}}}));
    THIMBLE_TRY(const ValueId now, call.add(OpKind::expand, {here}, {{ir::attr::shape, shape}}));
    THIMBLE_TRY(y, step(call, y, row, written, now));
    THIMBLE_TRY(written, call.add(OpKind::logical_or, {written, now}));
  }
  return y;
}

/// The last one of several sources at one position wins.
Result<ValueId> overwritten(Call& call, ValueId y, ValueId row, ValueId, ValueId now) {
  return call.add(OpKind::where, {now, row, y});
}

template <OpKind kKind, bool kIncludesSelf>
Result<ValueId> combined(Call& call, ValueId y, ValueId row, ValueId written, ValueId now) {
  THIMBLE_TRY(ValueId both, call.add(kKind, {y, row}));
  if (!kIncludesSelf) {
    THIMBLE_TRY(both, call.add(OpKind::where, {written, both, row}));
  }
  return call.add(OpKind::where, {now, both, y});
}

/// Sum or mean of self and the sources.
Status scatter_sum(Call& call, const Scatter& s, bool includes_self, bool is_mean) {
  if (const DType dtype = call.builder().graph.type(s.self).dtype; dtype != DType::kF32) {
    return unsupported("sums of {}, expected float32", ir::dtype_name(dtype));
  }
  THIMBLE_TRY(const ValueId hit, hits(call, s));
  THIMBLE_TRY(const ValueId source, opened(call, s.source, s.dim));
  Formula f(call);
  Term y = f.value(sum_of_hits(call, s, hit, source));
  const Term self = f.value(s.self);
  const Term written = f.value(is_written(call, s, hit));
  if (includes_self) y = y + self;
  if (is_mean) {
    const Term count = f.value(sum_of_hits(call, s, hit, call.scalar(1)));
    const Term divisor =
        includes_self ? count + 1.0 : f.apply(OpKind::clamp, {count}, {{ir::attr::float_min, 1.0}});
    y = y / divisor;
  }
  if (!includes_self) y = f.where(written, y, self);
  THIMBLE_CHECK(f.status());
  return write_part(call, s, y.id);
}

}  // namespace

namespace handlers {

Status scatter_value(Call& call) {
  THIMBLE_TRY(const Scatter s, read_scatter(call, "value"));
  THIMBLE_TRY(const ValueId hit, hits(call, s));
  THIMBLE_TRY(const ValueId written, is_written(call, s, hit));
  const DType dtype = call.builder().graph.type(s.self).dtype;
  THIMBLE_TRY(const ValueId value, operand_as(call, "value", dtype));
  return write_part(call, s, call.add(OpKind::where, {written, value, s.self}));
}

Status scatter(Call& call) {
  THIMBLE_TRY(const Scatter s, read_scatter(call, "src"));
  return write_part(call, s, write_rows(call, s, s.self, overwritten));
}

Status scatter_add(Call& call) {
  THIMBLE_TRY(const Scatter s, read_scatter(call, "src"));
  return scatter_sum(call, s, /*includes_self=*/true, /*is_mean=*/false);
}

Status scatter_reduce(Call& call) {
  THIMBLE_TRY(const Scatter s, read_scatter(call, "src"));
  THIMBLE_TRY(const std::string reduce, call.text("reduce"));
  THIMBLE_TRY(const bool includes, call.boolean("include_self", true));
  if (reduce == "sum" || reduce == "mean") return scatter_sum(call, s, includes, reduce == "mean");
  WriteStep step = nullptr;
  if (reduce == "prod")
    step = includes ? combined<OpKind::mul, true> : combined<OpKind::mul, false>;
  if (reduce == "amax") {
    step = includes ? combined<OpKind::maximum, true> : combined<OpKind::maximum, false>;
  }
  if (reduce == "amin") {
    step = includes ? combined<OpKind::minimum, true> : combined<OpKind::minimum, false>;
  }
  if (step == nullptr)
    return bad_input("reduce is {}, expected sum, prod, mean, amax or amin", reduce);
  return write_part(call, s, write_rows(call, s, s.self, step));
}

/// Elements of the source replace, in order, the elements of self where the mask is true. The
/// number of true elements before an element is the position in the source.
Status masked_scatter(Call& call) {
  constexpr int64_t kElementsMax = 512;
  THIMBLE_TRY(const ValueId x, call.tensor("self"));
  THIMBLE_TRY(const ValueId given, as_bool(call, "mask"));
  THIMBLE_TRY(ValueId source, call.tensor("source"));
  const ir::Shape shape = call.shape(x);
  const int64_t count = ir::element_count(shape), sources = ir::element_count(call.shape(source));
  THIMBLE_TRY(const ValueId mask, call.add(OpKind::expand, {given}, {{ir::attr::shape, shape}}));
  THIMBLE_TRY(source, call.reshape(source, {sources}));
  const ir::Tensor* known = call.builder().constant_of(mask);
  ValueId index = ir::kNoValue;
  if (known != nullptr) {
    THIMBLE_TRY(ir::Tensor numbers, call.new_constant(DType::kI64, {count}));
    int64_t next = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      numbers.data<int64_t>()[at] = std::min(next, sources - 1);
      if (element(*known, at) != 0) ++next;
    }
    if (next > sources) return bad_input("{} elements of {} sources", next, sources);
    index = call.constant_value("index", std::move(numbers));
  } else {
    if (count > kElementsMax || sources > kElementsMax) {
      return unsupported("{} elements and {} sources with a computed mask, expected up to {}",
                         count, sources, kElementsMax);
    }
    ir::Tensor wanted = ir::zeros(DType::kF32, {1, sources});
    std::iota(wanted.data<float>().begin(), wanted.data<float>().end(), 1.0F);
    Formula f(call);
    const Term ones = f.where(f.value(mask), f.constant(1), f.constant(0));
    const Term flat = f.reshape(ones, {count});
    const Term place = f.apply(OpKind::cumsum, {flat}, {{ir::attr::dim, int64_t{0}}});
    const Term column = f.reshape(place, {count, 1});
    const Term apart = column - f.value(call.constant_value("wanted", std::move(wanted)));
    const Term nearest = f.apply(OpKind::argmax, {f.apply(OpKind::abs, {apart})},
                                 {{ir::attr::dim, int64_t{1}}, {ir::attr::smallest, int64_t{1}}});
    THIMBLE_CHECK(f.status());
    index = nearest.id;
  }
  THIMBLE_TRY(ValueId y, call.add(OpKind::gather, {source, index}, {{ir::attr::dim, int64_t{0}}}));
  THIMBLE_TRY(y, call.reshape(y, shape));
  return call.result(call.add(OpKind::where, {mask, y, x}));
}

}  // namespace handlers
}  // namespace thimble::import_pt2
