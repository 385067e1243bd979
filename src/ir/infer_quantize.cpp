// SPDX-License-Identifier: Apache-2.0
// Type rules of the operators between float and integer. In an imported graph they carry the
// parameters that PyTorch chose, for every integer type. In a compiled graph they are at the inputs
// and outputs and are int8.
#include <cmath>

#include "ir/infer_rules.h"

namespace thimble::ir {
namespace {

struct QuantizedRange {
  DType dtype;
  int64_t low, high;
};

/// Indexed by attribute `type` of quantize.
constexpr QuantizedRange kQuantized[] = {
    {DType::kI8, -128, 127}, {DType::kU8, 0, 255}, {DType::kI16, -32768, 32767}};

/// Returns null for a type that cannot be quantized.
const QuantizedRange* quantized_range(DType dtype) {
  constexpr static QuantizedRange kWide = {DType::kI32, INT32_MIN, INT32_MAX};
  for (const QuantizedRange& codes : kQuantized) {
    if (codes.dtype == dtype) return &codes;
  }
  return dtype == DType::kI32 ? &kWide : nullptr;
}

bool has_inverse(double scale) {
  const float single = static_cast<float>(scale);
  return scale > 0 && std::isfinite(single) && std::isfinite(1.0F / single);
}

Status check_scale(const InferContext& c) {
  const double scale = c.op().get(attr::scale);
  if (has_inverse(scale)) return ok();
  return bad_input("scale is {}, expected a positive number with a finite inverse in float32",
                   scale);
}

Result<const QuantizedRange*> check_quantized_type(const InferContext& c) {
  const QuantizedRange* codes = quantized_range(c.type(0).dtype);
  if (codes != nullptr) return codes;
  return bad_input("{}, expected i8, u8, i16 or i32", c.describe(0));
}

Status check_channel_zero_points(const InferContext& c, const Shape& per_channel,
                                 const QuantizedRange& codes) {
  THIMBLE_CHECK(c.expect_dtype(2, DType::kI32));
  THIMBLE_CHECK(c.expect_shape(2, per_channel));
  THIMBLE_CHECK(c.expect_constant(2));
  for (const int32_t zero_point : c.value(2).constant->data<int32_t>()) {
    if (zero_point < codes.low || zero_point > codes.high) {
      return bad_input("zero_point (%{}) holds {}, expected {} to {}", c.value(2).name, zero_point,
                       codes.low, codes.high);
    }
  }
  return ok();
}

}  // namespace

Result<Type> infer_flip_sign(const InferContext& c) {
  const DType dtype = c.type(0).dtype;
  if (dtype != DType::kI8 && dtype != DType::kU8) {
    return bad_input("{}, expected i8 or u8", c.describe(0));
  }
  return Type{dtype == DType::kI8 ? DType::kU8 : DType::kI8, c.shape(0), {}, {}};
}

Result<Type> infer_dequantize(const InferContext& c) {
  THIMBLE_TRY(const QuantizedRange* codes, check_quantized_type(c));
  THIMBLE_CHECK(check_scale(c));
  THIMBLE_CHECK(c.expect_range(attr::zero_point, codes->low, codes->high));
  return Type{DType::kF32, c.shape(0), {}, {}};
}

Result<Type> infer_dequantize_channels(const InferContext& c) {
  THIMBLE_TRY(const QuantizedRange* codes, check_quantized_type(c));
  THIMBLE_CHECK(c.expect_range(attr::axis, 0, static_cast<int64_t>(c.shape(0).size()) - 1));
  const Shape per_channel = {c.shape(0)[static_cast<size_t>(c.get(attr::axis))]};
  THIMBLE_CHECK(c.expect_dtype(1, DType::kF32));
  THIMBLE_CHECK(c.expect_shape(1, per_channel));
  THIMBLE_CHECK(c.expect_constant(1));
  for (const float scale : c.value(1).constant->data<float>()) {
    if (!has_inverse(static_cast<double>(scale))) {
      return bad_input("scale (%{}) holds {}, expected positive numbers with a finite inverse",
                       c.value(1).name, scale);
    }
  }
  if (c.has(2)) THIMBLE_CHECK(check_channel_zero_points(c, per_channel, *codes));
  return Type{DType::kF32, c.shape(0), {}, {}};
}

Result<Type> infer_quantize(const InferContext& c) {
  THIMBLE_CHECK(c.expect_dtype(0, DType::kF32));
  THIMBLE_CHECK(check_scale(c));
  THIMBLE_CHECK(c.expect_range(attr::type, 0, 2));
  const QuantizedRange& codes = kQuantized[c.get(attr::type)];
  THIMBLE_CHECK(c.expect_range(attr::zero_point, codes.low, codes.high));
  THIMBLE_CHECK(c.expect_range(attr::min, codes.low, codes.high));
  THIMBLE_CHECK(c.expect_range(attr::max, c.get(attr::min), codes.high));
  Type type{codes.dtype, c.shape(0), {}, {}};
  type.quant = per_tensor(c.op().get(attr::scale), static_cast<int32_t>(c.get(attr::zero_point)));
  return type;
}

}  // namespace thimble::ir
