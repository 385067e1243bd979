// Data movement operators.

#include <algorithm>

#include "interchange/tosa/tosa_lowering.h"

namespace thimble::interchange {

using formats::tosa::DType;
using formats::tosa::Op;
using ir::DimOrder;
using ir::Shape;

/// An image order is kept if only one dimension exceeds 1; else the order must be logical.
Status TosaLowering::reshape() {
  const Shape& to = result_shape();
  const DimOrder from = layouts_.existing(operand(0));
  const auto longer = [](const Shape& s) {
    Shape kept;
    for (const int64_t size : s) {
      if (size != 1) kept.push_back(size);
    }
    return kept;
  };
  if (to.size() == 4 && longer(to) == longer(shape(0)) && from != Layouts::logical(from.size()) &&
      longer(Layouts::in_order(to, Layouts::image())) ==
          longer(Layouts::in_order(shape(0), from)) &&
      longer(to).size() == 1) {
    put(b_.reshape(layouts_.get(operand(0), from), Layouts::in_order(to, Layouts::image())),
        Layouts::image());
    return ok();
  }
  put(b_.reshape(logical(0), to));
  return ok();
}

Status TosaLowering::permute() {
  layouts_.alias_permuted(operand(0), op_->output, integers("dims"));
  return ok();
}

Status TosaLowering::slice() {
  const DimOrder order = layouts_.existing(operand(0));
  const int axis = Layouts::position(order, integer("dim"));
  const int64_t count = result_shape()[static_cast<size_t>(integer("dim"))];
  put(b_.strided(layouts_.get(operand(0), order), axis, integer("start"), count, integer("step")),
      order);
  return ok();
}

Status TosaLowering::concat() {
  const DimOrder order = common_order();
  std::vector<int> parts;
  for (size_t i = 0; i < op_->inputs.size(); ++i) parts.push_back(layouts_.get(operand(i), order));
  put(b_.concat(parts, Layouts::position(order, integer("dim"))), order);
  return ok();
}

Status TosaLowering::pad() {
  const DimOrder order = layouts_.existing(operand(0));
  const auto value = static_cast<int32_t>(op_->number("value"));
  put(b_.pad(layouts_.get(operand(0), order), Layouts::in_order(integers("before"), order),
             Layouts::in_order(integers("after"), order), value),
      order);
  return ok();
}

Status TosaLowering::expand() {
  const DimOrder order = common_order();
  put(b_.tile(broadcastable(0, order), Layouts::in_order(result_shape(), order)), order);
  return ok();
}

/// Returns positions 0 .. size-1 from an index that may be negative (from the end) or out of range.
/// Positions out of range are clamped.
Result<int> TosaLowering::positions(size_t i, int64_t size) {
  const auto n = static_cast<int32_t>(size);
  const ir::Value& value = graph_.value(operand(i));
  if (!value.constant) {
    const int index = logical(i);
    const int from_end = b_.plus(index, n);
    const int turned = b_.select(b_.greater(b_.same_rank(index, 0), index), from_end, index);
    return b_.min_scalar(b_.max_scalar(turned, 0), n - 1);
  }
  std::vector<int32_t> found;
  const size_t each = ir::dtype_bytes(value.type.dtype);
  for (size_t at = 0; at < value.constant->bytes.size(); at += each) {
    const ByteView bytes = value.constant->bytes;
    const int64_t raw = each == 8 ? static_cast<int64_t>(load_le<uint64_t>(bytes, at))
                                  : static_cast<int32_t>(load_le<uint32_t>(bytes, at));
    found.push_back(
        static_cast<int32_t>(std::clamp<int64_t>(raw < 0 ? raw + size : raw, 0, size - 1)));
  }
  return b_.constants32(value.type.shape, found);
}

/// Consecutive repetition of each element is written as a concatenation of the tensor with itself.
Status TosaLowering::gather() {
  const Shape& x = shape(0);
  const int64_t dim = integer("dim");
  const int64_t size = x[static_cast<size_t>(dim)];
  if (const int64_t times = repetitions(graph_, *op_); times > 0) {
    const DimOrder order = layouts_.existing(operand(0));
    const Shape from = Layouts::in_order(x, order);
    const auto place = from.begin() + Layouts::position(order, dim);
    const Shape rows = {1, ir::element_count(Shape(from.begin(), place + 1)), 1,
                        ir::element_count(Shape(place + 1, from.end()))};
    const int once = b_.reshape(layouts_.get(operand(0), order), rows);
    const int all = b_.concat(std::vector<int>(static_cast<size_t>(times), once), 2);
    put(b_.reshape(all, Layouts::in_order(result_shape(), order)), order);
    return ok();
  }
  if (dtype(0) == ir::DType::kBool) return refuse("it gathers booleans");
  const int64_t before = ir::element_count(Shape(x.begin(), x.begin() + dim));
  const int64_t behind = ir::element_count(Shape(x.begin() + dim + 1, x.end()));
  const int64_t count = ir::element_count(shape(1));
  THIMBLE_TRY(int index, positions(1, size));
  index = b_.tile(b_.reshape(index, {1, count}), {before, count});
  const int values = b_.reshape(logical(0), {before, size, behind});
  put(b_.reshape(b_.gather(values, index), result_shape()));
  return ok();
}

/// Written as one GATHER from the flattened tensor. The flat position of element i is computed from
/// its own indices, with the index along `dim` replaced.
Status TosaLowering::gather_elements() {
  const Shape& x = shape(0);
  const Shape& y = result_shape();
  if (dtype(0) == ir::DType::kBool) return refuse("it gathers booleans");
  const auto dim = static_cast<size_t>(integer("dim"));
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
  put(b_.reshape(b_.gather(values, b_.reshape(index, {1, ir::element_count(y)})), y));
  return ok();
}

}  // namespace thimble::interchange
