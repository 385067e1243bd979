// SPDX-License-Identifier: Apache-2.0
// Data movement operators.

#include <algorithm>
#include <bit>

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using ir::DimOrder;
using ir::Shape;

/// An image order is kept if only one dimension exceeds 1; else the order must be logical.
Status TosaLowering::reshape() {
  const Shape& to = result_shape();
  const DimOrder from = layouts_.existing(operand(0));
  if (to.size() == 4 && without_unit_dims(to) == without_unit_dims(shape(0)) &&
      from != Layouts::logical(from.size()) &&
      without_unit_dims(Layouts::in_order(to, Layouts::image())) ==
          without_unit_dims(Layouts::in_order(shape(0), from)) &&
      without_unit_dims(to).size() == 1) {
    return put(b_.reshape(operand_in(0, from), Layouts::in_order(to, Layouts::image())),
               Layouts::image());
  }
  return put(b_.reshape(logical(0), to));
}

Status TosaLowering::slice() {
  const DimOrder order = layouts_.existing(operand(0));
  const int axis = Layouts::position(order, get(ir::attr::dim));
  const int64_t count = result_shape()[static_cast<size_t>(get(ir::attr::dim))];
  return put(
      b_.strided(operand_in(0, order), axis, get(ir::attr::start), count, get(ir::attr::step)),
      order);
}

Status TosaLowering::concat() {
  const DimOrder order = common_order();
  std::vector<int> parts;
  for (size_t i = 0; i < op_->inputs.size(); ++i) parts.push_back(operand_in(i, order));
  return put(b_.concat(parts, Layouts::position(order, get(ir::attr::dim))), order);
}

Status TosaLowering::pad() {
  const DimOrder order = layouts_.existing(operand(0));
  const double filling = op_->get(ir::attr::value);
  const auto value = is_float() ? std::bit_cast<int32_t>(static_cast<float>(filling))
                                : static_cast<int32_t>(filling);
  return put(b_.pad(operand_in(0, order), Layouts::in_order(get(ir::attr::before), order),
                    Layouts::in_order(get(ir::attr::after), order), value),
             order);
}

Status TosaLowering::expand() {
  const DimOrder order = common_order();
  return put(b_.tile(broadcastable(0, order), result_shape_in(order)), order);
}

/// Returns positions 0 .. size-1 from an index that may be negative (from the end) or out of range.
/// Positions out of range are clamped.
Result<int> TosaLowering::positions(size_t i, int64_t size) {
  const auto n = static_cast<int32_t>(size);
  if (const auto found = constant_positions(i, size)) return b_.constants32(shape(i), *found);
  const int index = logical(i);
  const int from_end = b_.plus(index, n);
  const int from_start = b_.select(b_.greater(b_.same_rank(index, 0), index), from_end, index);
  return b_.min_scalar(b_.max_scalar(from_start, 0), n - 1);
}

/// Consecutive repetition of each element is written as a concatenation of the tensor with itself.
Status TosaLowering::gather() {
  const Shape& x = shape(0);
  const int64_t dim = get(ir::attr::dim);
  const int64_t size = x[static_cast<size_t>(dim)];
  if (const int64_t times = repetitions(graph_, *op_); times > 0) {
    const DimOrder order = layouts_.existing(operand(0));
    const int once = b_.reshape(operand_in(0, order), shape_split_after_dim(order));
    const int all = b_.concat(std::vector<int>(static_cast<size_t>(times), once), 2);
    return put(b_.reshape(all, result_shape_in(order)), order);
  }
  if (dtype(0) == ir::DType::kBool) return refuse("it gathers booleans");
  const int64_t outer = ir::element_count(Shape(x.begin(), x.begin() + dim));
  const int64_t inner = ir::element_count(Shape(x.begin() + dim + 1, x.end()));
  const int64_t count = ir::element_count(shape(1));
  THIMBLE_TRY(int index, positions(1, size));
  index = b_.tile(b_.reshape(index, {1, count}), {outer, count});
  const int values = b_.reshape(logical(0), {outer, size, inner});
  return put(b_.reshape(b_.gather(values, index), result_shape()));
}

/// Written as one GATHER from the flattened tensor. The flat position of element i is computed from
/// its own indices, with the index along `dim` replaced.
Status TosaLowering::gather_elements() {
  const Shape& x = shape(0);
  const Shape& y = result_shape();
  if (dtype(0) == ir::DType::kBool) return refuse("it gathers booleans");
  const auto dim = static_cast<size_t>(get(ir::attr::dim));
  const auto strides = ir::strides(x, {});
  std::vector<int32_t> base;
  Shape at(y.size(), 0);
  for (int64_t i = 0; i < ir::element_count(y); ++i) {
    int64_t rest = i, place = 0;
    for (size_t d = y.size(); d-- > 0;) {
      if (d != dim) place += rest % y[d] * strides[d];
      rest /= y[d];
    }
    base.push_back(static_cast<int32_t>(place));
  }
  THIMBLE_TRY(int index, positions(1, x[dim]));
  index = b_.times(index, static_cast<int32_t>(strides[dim]));
  index = b_.add(index, b_.constants32(y, base));
  const int values = b_.reshape(logical(0), {1, ir::element_count(x), 1});
  return put(b_.reshape(b_.gather(values, b_.reshape(index, {1, ir::element_count(y)})), y));
}

}  // namespace thimble::interchange
