// SPDX-License-Identifier: Apache-2.0
// Type rules of requantization that rounds halves to even (docs/numerics.md, "Halves to even"), and
// of the functions of values with 12 fractional bits.

#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

constexpr int64_t kEvenShiftMax = 30;

std::optional<DType> type_of_bytes(int64_t bytes) {
  switch (bytes) {
    case 1:
      return DType::kI8;
    case 2:
      return DType::kI16;
    case 4:
      return DType::kI32;
    default:
      return std::nullopt;
  }
}

/// 16-bit and 32-bit results saturate: their clamp must be the full range of the type.
Status check_half_even_clamp(const InferContext& c) {
  switch (c.get(attr::bytes)) {
    case 2:
      THIMBLE_CHECK(c.expect_range(attr::min, INT16_MIN, INT16_MIN));
      return c.expect_range(attr::max, INT16_MAX, INT16_MAX);
    case 4:
      THIMBLE_CHECK(c.expect_range(attr::min, INT32_MIN, INT32_MIN));
      return c.expect_range(attr::max, INT32_MAX, INT32_MAX);
    default:
      return check_clamp(c);
  }
}

Status check_zero_point_product(const InferContext& c, std::string_view name, int64_t shift) {
  if (shift < 0 || shift > kEvenShiftMax) {
    return bad_input("{} is {}, expected 0 to {} with rounding 2", name, shift, kEvenShiftMax);
  }
  const int64_t product = c.get(attr::y_zp) * (int64_t{1} << shift);
  if (product > INT32_MIN && product <= INT32_MAX) return ok();
  return bad_input("y_zp {} times 2^{} exceeds 32 bits", c.get(attr::y_zp), shift);
}

Result<Type> function_of_12_bits(const InferContext& c, DType dtype) {
  THIMBLE_CHECK(c.expect_dtype(0, dtype));
  return int8_result(c.shape(0));
}

}  // namespace

bool rounds_half_to_even(const InferContext& c) {
  return c.get(attr::rounding) == 2;
}

Status check_half_even_attrs(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range(attr::rounding, 0, 2));
  THIMBLE_CHECK(check_zero_point(c, attr::y_zp));
  const bool may_leak = has_attr(c.op().kind, attr::leaky);
  if (rounds_half_to_even(c)) {
    if (!type_of_bytes(c.get(attr::bytes))) {
      return bad_input("bytes is {}, expected 1, 2 or 4", c.get(attr::bytes));
    }
    return check_half_even_clamp(c);
  }
  if (c.get(attr::bytes) != 1) {
    return bad_input("bytes is {}, expected 1 without rounding 2", c.get(attr::bytes));
  }
  if (may_leak && c.get(attr::leaky) != 0) return bad_input("leaky, which needs rounding 2");
  return check_clamp(c);
}

Status check_half_even_multiplier(const InferContext& c, const MultiplierKeys& keys) {
  THIMBLE_CHECK(c.expect_range(keys.mult, 0, INT32_MAX));
  return check_zero_point_product(c, attr_name(keys.shift), c.get(keys.shift));
}

Status check_half_even_channels(const InferContext& c, int64_t channels) {
  const int64_t each = c.get(attr::leaky) != 0 ? 2 : 1;
  for (const size_t i : {size_t{3}, size_t{4}}) {
    THIMBLE_CHECK(c.expect_dtype(i, DType::kI32));
    THIMBLE_CHECK(c.expect_constant(i));
  }
  if (c.shape(4) != Shape{1}) THIMBLE_CHECK(c.expect_shape(4, {channels}));
  THIMBLE_CHECK(c.expect_shape(3, {each * c.shape(4)[0]}));
  for (const int32_t mult : c.value(3).constant->data<int32_t>()) {
    if (mult < 0)
      return bad_input("mult (%{}) holds {}, expected 0 or more", c.value(3).name, mult);
  }
  for (const int32_t shift : c.value(4).constant->data<int32_t>()) {
    THIMBLE_CHECK(
        check_zero_point_product(c, fmt::format("an entry of %{}", c.value(4).name), shift));
  }
  return ok();
}

Type half_even_result(const InferContext& c, Shape shape) {
  return {*type_of_bytes(c.get(attr::bytes)), std::move(shape), {}, {}};
}

Result<Type> infer_qsigmoid12(const InferContext& c) {
  return function_of_12_bits(c, DType::kI16);
}
Result<Type> infer_qtanh12(const InferContext& c) {
  return function_of_12_bits(c, DType::kI16);
}
Result<Type> infer_qsoftmax12(const InferContext& c) {
  THIMBLE_CHECK(c.dimension(0));
  return function_of_12_bits(c, DType::kI32);
}

}  // namespace thimble::ir
