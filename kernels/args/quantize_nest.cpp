// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/quantize_nest.h"

#include "abi/ops/conversion.h"
#include "numerics/float_quantize.h"

namespace thimble::kernels {
namespace {

Status check_quantize_operands(const Call& call, DType from, DType to) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, from));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, to));
  THIMBLE_RETURN_IF_ERROR(check_blob(tensor(call, 1), sizeof(abi::QuantizeNest)));
  const auto& p =
      packed<abi::op_info::thimble_quantize_nest, abi::op_info::thimble_dequantize_nest>(
          tensor(call, 1));
  const bool inside = is_within(p.nest, 0, static_cast<uint32_t>(elements(y))) &&
                      is_within(p.nest, 1, static_cast<uint32_t>(elements(x))) &&
                      element_count(p.nest) == static_cast<uint32_t>(elements(y));
  if (!inside) return Status::kBadShape;
  const bool fine = numerics::FloatFactor(p.factor).is_valid() && is_code(p.zero_point);
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace

Status check_quantize_nest(const Call& call) {
  return check_quantize_operands(call, DType::kF32, DType::kI8);
}

Status check_dequantize_nest(const Call& call) {
  const DType codes = tensor(call, 0).dtype;
  const bool wide = codes == DType::kI16;
  THIMBLE_RETURN_IF_ERROR(check_quantize_operands(call, wide ? codes : DType::kI8, DType::kF32));
  const uint32_t bytes =
      packed<abi::op_info::thimble_quantize_nest, abi::op_info::thimble_dequantize_nest>(
          tensor(call, 1))
          .quantized_bytes;
  return bytes == (wide ? 2U : 1U) ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
