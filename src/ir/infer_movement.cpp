// SPDX-License-Identifier: Apache-2.0
// Type rules of operators that only move data: any element type; the quantization is kept.

#include <cmath>

#include "ir/infer_rules.h"

namespace thimble::ir {

std::optional<Quant> kept_quant(const Type& type) {
  if (type.quant && type.quant->axis == -1) return type.quant;
  return std::nullopt;
}

Type data_movement_type(const InferContext& c, Shape shape) {
  return {c.type(0).dtype, std::move(shape), {}, kept_quant(c.type(0))};
}

namespace {

bool representable(double value, DType dtype) {
  if (dtype == DType::kF32) return true;
  if (value != std::floor(value)) return false;
  switch (dtype) {
    case DType::kBool:
      return value == 0 || value == 1;
    case DType::kI8:
      return value >= -128 && value <= 127;
    case DType::kU8:
      return value >= 0 && value <= 255;
    case DType::kI16:
      return value >= -32768 && value <= 32767;
    case DType::kI32:
      return value >= -2147483648.0 && value <= 2147483647.0;
    default:
      return std::abs(value) <= 9007199254740992.0;  // 2^53: exact in a double
  }
}

Status check_index(const InferContext& c) {
  const DType dtype = c.type(1).dtype;
  if (dtype == DType::kI32 || dtype == DType::kI64) return ok();
  return bad_input("{}, expected i32 or i64", c.describe(1));
}

}  // namespace

Result<Type> infer_concat(const InferContext& c) {
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  Shape shape = c.shape(0);
  std::optional<Quant> quant = kept_quant(c.type(0));
  for (size_t i = 1; i < c.count(); ++i) {
    THIMBLE_CHECK(c.expect_dtype(i, c.type(0).dtype));
    THIMBLE_CHECK(c.expect_rank(i, shape.size()));
    for (size_t j = 0; j < shape.size(); ++j) {
      if (j == dim || c.shape(i)[j] == shape[j]) continue;
      return bad_input("{} and {}, which differ in a dimension other than {}", c.describe(0),
                       c.describe(i), dim);
    }
    shape[dim] += c.shape(i)[dim];
    if (shape[dim] > kMaxElements) return unsupported("the result has too many elements");
    if (c.type(i).quant != quant) quant.reset();
  }
  return Type{c.type(0).dtype, std::move(shape), {}, std::move(quant)};
}

Result<Type> infer_copy(const InferContext& c) {
  Type type = data_movement_type(c, c.shape(0));
  type.quant = c.type(0).quant;  // per-channel too: the channel axis does not move
  return type;
}

Result<Type> infer_expand(const InferContext& c) {
  const Shape shape = c.op().get(attr::shape);
  const auto broadcast = broadcast_shape(c.shape(0), shape);
  if (!broadcast || *broadcast != shape) {
    return bad_input("{}, which does not expand to {}", c.describe(0), list_text(shape));
  }
  return data_movement_type(c, shape);
}

Result<Type> infer_gather(const InferContext& c) {
  THIMBLE_CHECK(check_index(c));
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  Shape shape = c.shape(0);
  const auto at = shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(dim));
  shape.insert(at, c.shape(1).begin(), c.shape(1).end());
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_gather_elements(const InferContext& c) {
  THIMBLE_CHECK(check_index(c));
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  THIMBLE_CHECK(c.expect_rank(1, c.shape(0).size()));
  for (size_t i = 0; i < c.shape(0).size(); ++i) {
    if (i == dim || c.shape(1)[i] <= c.shape(0)[i]) continue;
    return bad_input("{} and {}: the index is larger than x in a dimension other than {}",
                     c.describe(0), c.describe(1), dim);
  }
  return data_movement_type(c, c.shape(1));
}

Result<Type> infer_max_pool2d(const InferContext& c) {
  THIMBLE_TRY(Shape shape, pool_rule(c));
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_pad(const InferContext& c) {
  Shape shape = c.shape(0);
  for (const auto side : {attr::before, attr::after}) {
    const auto& sizes = c.op().get(side);
    bool good = sizes.size() == shape.size();
    for (const int64_t size : sizes) good = good && size >= 0 && size <= kMaxElements;
    if (!good) {
      return bad_input("{} is {}, expected one number of 0 or more for each of {} dimensions",
                       attr_name(side), list_text(sizes), shape.size());
    }
    for (size_t i = 0; i < shape.size(); ++i) shape[i] += sizes[i];
  }
  if (!representable(c.op().get(attr::value), c.type(0).dtype)) {
    return bad_input("value {} is not a number that {} can represent", c.op().get(attr::value),
                     dtype_name(c.type(0).dtype));
  }
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_permute(const InferContext& c) {
  const auto& dims = c.op().get(attr::dims);
  const bool scalar = dims.empty() && c.shape(0).empty();
  if (dims.size() != c.shape(0).size() || (!scalar && !c.dimensions(0).ok())) {
    return bad_input("dims is {}, expected a permutation of {} dimensions", list_text(dims),
                     c.shape(0).size());
  }
  Shape shape;
  for (const int64_t dim : dims) shape.push_back(c.shape(0)[static_cast<size_t>(dim)]);
  return data_movement_type(c, std::move(shape));
}

Result<Type> infer_reshape(const InferContext& c) {
  const Shape shape = c.op().get(attr::shape);
  const auto count = checked_element_count(shape);
  if (!count || *count != c.type(0).elements()) {
    return bad_input("{}, which does not fit {}", c.describe(0), list_text(shape));
  }
  return data_movement_type(c, shape);
}

Result<Type> infer_slice(const InferContext& c) {
  THIMBLE_TRY(const size_t dim, c.dimension(0));
  Shape shape = c.shape(0);
  THIMBLE_CHECK(c.expect_range(attr::start, 0, shape[dim] - 1));
  THIMBLE_CHECK(c.expect_range(attr::end, c.get(attr::start) + 1, shape[dim]));
  THIMBLE_CHECK(c.expect_range(attr::step, 1, kMaxElements));
  const int64_t length = c.get(attr::end) - c.get(attr::start);
  shape[dim] = (length + c.get(attr::step) - 1) / c.get(attr::step);
  return data_movement_type(c, std::move(shape));
}

}  // namespace thimble::ir
