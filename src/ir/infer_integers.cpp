// SPDX-License-Identifier: Apache-2.0
// Type rules of integers that are computed at run time: i32 and i64, without quantization.

#include <algorithm>

#include "ir/infer_rules.h"
#include "ir/int_functions.h"

namespace thimble::ir {
namespace {

Status expect_whole(const InferContext& c, size_t i, bool or_bool) {
  const DType dtype = c.type(i).dtype;
  if (dtype == DType::kI32 || dtype == DType::kI64) return ok();
  if (or_bool && dtype == DType::kBool) return ok();
  return bad_input("{}, expected {}i32 or i64", c.describe(i), or_bool ? "bool, " : "");
}

}  // namespace

Result<Type> infer_int_cast(const InferContext& c) {
  THIMBLE_CHECK(expect_whole(c, 0, /*or_bool=*/true));
  const auto to = static_cast<DType>(c.get(attr::type));
  if (to == DType::kI32 || to == DType::kI64) return Type{to, c.shape(0), {}, {}};
  return bad_input("type is {}, expected {} (i32) or {} (i64)", c.get(attr::type),
                   static_cast<int>(DType::kI32), static_cast<int>(DType::kI64));
}

Result<Type> infer_int_cumsum(const InferContext& c) {
  THIMBLE_CHECK(expect_whole(c, 0, /*or_bool=*/false));
  THIMBLE_TRY(Shape shape, along_dim(c));
  return Type{c.type(0).dtype, std::move(shape), {}, {}};
}

Result<Type> infer_int_pair(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::function, 0, kIntFunctions - 1));
  THIMBLE_CHECK(expect_whole(c, 0, /*or_bool=*/false));
  THIMBLE_CHECK(c.expect_dtype(1, c.type(0).dtype));
  THIMBLE_TRY(Shape shape, broadcast_rule(c));
  return Type{c.type(0).dtype, std::move(shape), {}, {}};
}

Result<Type> infer_int_quantize(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kI32));
  THIMBLE_CHECK(c.expect_range(attr::min, INT32_MIN, c.get(attr::max)));
  THIMBLE_CHECK(c.expect_range(attr::max, c.get(attr::min), INT32_MAX));
  THIMBLE_CHECK(check_multiplier(c, attr::multiplier));
  const int64_t largest = std::max(-c.get(attr::min), c.get(attr::max));
  const int64_t shift = std::max<int64_t>(c.get(attr::shift), 0);
  if (largest > INT32_MAX >> shift) {
    return bad_input("shift is {} for values up to {}, which do not fit 32 bits", shift, largest);
  }
  const bool wide = c.get(attr::wide) != 0;
  THIMBLE_CHECK(
      c.expect_range(attr::y_zp, wide ? INT16_MIN : INT8_MIN, wide ? INT16_MAX : INT8_MAX));
  return wide ? int16_result(c.shape(0)) : int8_result(c.shape(0));
}

Result<Type> infer_int_reduce(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::function, 0, kIntReductions - 1));
  const auto function = static_cast<IntReduction>(c.get(attr::function));
  THIMBLE_CHECK(expect_whole(c, 0, /*or_bool=*/function != IntReduction::kSum));
  THIMBLE_TRY(Shape shape, mean_rule(c));
  const bool position = function == IntReduction::kArgmax || function == IntReduction::kArgmin;
  if (position && c.get(attr::dims).size() != 1) {
    return bad_input("{} dimensions, expected 1 for a position", c.get(attr::dims).size());
  }
  return Type{position ? DType::kI32 : c.type(0).dtype, std::move(shape), {}, {}};
}

Result<Type> infer_int_to_float(const InferContext& c) {
  THIMBLE_CHECK(expect_whole(c, 0, /*or_bool=*/false));
  return Type{DType::kF32, c.shape(0), {}, {}};
}

}  // namespace thimble::ir
