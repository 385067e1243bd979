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
  switch (c.integer("bytes")) {
    case 2:
      THIMBLE_CHECK(c.expect_range("min", INT16_MIN, INT16_MIN));
      return c.expect_range("max", INT16_MAX, INT16_MAX);
    case 4:
      THIMBLE_CHECK(c.expect_range("min", INT32_MIN, INT32_MIN));
      return c.expect_range("max", INT32_MAX, INT32_MAX);
    default:
      return check_clamp(c);
  }
}

Status check_zero_point_product(const InferContext& c, std::string_view name, int64_t shift) {
  if (shift < 0 || shift > kEvenShiftMax) {
    return bad_input("{} is {}, expected 0 to {} with rounding 2", name, shift, kEvenShiftMax);
  }
  const int64_t product = c.integer("y_zp") * (int64_t{1} << shift);
  if (product > INT32_MIN && product <= INT32_MAX) return ok();
  return bad_input("y_zp {} times 2^{} exceeds 32 bits", c.integer("y_zp"), shift);
}

Result<Type> function_of_12_bits(const InferContext& c, DType dtype) {
  THIMBLE_CHECK(c.expect_dtype(0, dtype));
  return int8_result(c.shape(0));
}

}  // namespace

bool rounds_half_to_even(const InferContext& c) {
  return c.integer("rounding") == 2;
}

Status check_half_even_attrs(const InferContext& c) {
  THIMBLE_CHECK(c.expect_range("rounding", 0, 2));
  THIMBLE_CHECK(check_zero_point(c, "y_zp"));
  const bool may_leak = op_info(c.op().kind).attr("leaky") != nullptr;
  if (rounds_half_to_even(c)) {
    if (!type_of_bytes(c.integer("bytes"))) {
      return bad_input("bytes is {}, expected 1, 2 or 4", c.integer("bytes"));
    }
    return check_half_even_clamp(c);
  }
  if (c.integer("bytes") != 1) {
    return bad_input("bytes is {}, expected 1 without rounding 2", c.integer("bytes"));
  }
  if (may_leak && c.integer("leaky") != 0) return bad_input("leaky, which needs rounding 2");
  return check_clamp(c);
}

Status check_half_even_multiplier(const InferContext& c, std::string_view mult,
                                  std::string_view shift) {
  THIMBLE_CHECK(c.expect_range(mult, 0, INT32_MAX));
  return check_zero_point_product(c, shift, c.integer(shift));
}

Status check_half_even_channels(const InferContext& c, int64_t channels) {
  const int64_t each = c.integer("leaky") != 0 ? 2 : 1;
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
  return {*type_of_bytes(c.integer("bytes")), std::move(shape), {}, {}};
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
