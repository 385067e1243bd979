// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/float_elementwise.h"

#include "numerics/float_math.h"

namespace thimble::kernels {
namespace {

Status check_operands(const Tensor& a, const Tensor& b, const Tensor& y) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(a, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(b, DType::kF32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kF32));
  return check_broadcast_pair(a, b, y);
}

}  // namespace

Status check_float_binary(const Call& call) {
  return check_operands(tensor(call, 0), tensor(call, 1), tensor(call, 2));
}

Status check_float_binary_with_alpha(const Call& call) {
  if (numerics::is_nan(call.args[2].number)) return Status::kBadParameter;
  return check_operands(tensor(call, 0), tensor(call, 1), tensor(call, 3));
}

Status check_limits(const Tensor& x, const Tensor& y, Limits limits) {
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, x.dtype));
  if (!same_sizes(x, y)) return Status::kBadShape;
  if (x.dtype == DType::kF32) return Status::kOk;
  if (x.dtype != DType::kI8) return Status::kBadDType;
  // Bounds of int8 tensors must be int8 values.
  const double bounds[] = {limits.min, limits.max};
  for (const double bound : bounds) {
    const bool is_code = bound >= -128 && bound <= 127 && numerics::floor(bound) == bound;
    if (!numerics::is_nan(bound) && !is_code) return Status::kBadParameter;
  }
  return Status::kOk;
}

Limits clamp_limits(const Call& call) {
  return {call.args[1].number, call.args[2].number};
}

Status check_clamp(const Call& call) {
  return check_limits(tensor(call, 0), tensor(call, 3), clamp_limits(call));
}

void limit_codes(const Tensor& x, const Tensor& y, Limits limits) {
  const int32_t min = numerics::is_nan(limits.min) ? -128 : static_cast<int32_t>(limits.min);
  const int32_t max = numerics::is_nan(limits.max) ? 127 : static_cast<int32_t>(limits.max);
  StrideIterator iterator = broadcast_pair(y, x, x);
  do {
    const StrideIterator::Axis& row = iterator.row();
    const int8_t* from = codes(x) + iterator.offset[1];
    int8_t* to = static_cast<int8_t*>(y.data) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      const int32_t code = from[i * row.step[1]];
      to[i * row.step[0]] = static_cast<int8_t>(code < min ? min : code > max ? max : code);
    }
  } while (iterator.next());
}

}  // namespace thimble::kernels
