// SPDX-License-Identifier: Apache-2.0
// thimble::int_quantize: int32 to the scale and zero point of an int8 or (wide) int16 tensor.
// Formula: docs/numerics.md, "Integers". Operands: x, parameters, y, which have one layout.

#include "abi/ops/integers.h"
#include "abi/params/integers.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

bool fits(int32_t value, int32_t shift) {
  const int32_t most = INT32_MAX >> (shift > 0 ? shift : 0);
  return value <= most && value >= -most;
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI32));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_int_quantize>(tensor(call, 1)));
  const abi::IntQuantizeParams& p = params<abi::op_info::thimble_int_quantize>(tensor(call, 1));
  if (y.dtype != (p.wide != 0 ? DType::kI16 : DType::kI8)) return Status::kBadDType;
  const bool zero_point =
      p.wide != 0 ? p.y_zp >= INT16_MIN && p.y_zp <= INT16_MAX : is_code(p.y_zp);
  const bool fine = zero_point && is_scale(p.mult, p.shift) && p.min <= p.max &&
                    fits(p.min, p.shift) && fits(p.max, p.shift);
  if (!fine) return Status::kBadParameter;
  if (!same_sizes(x, y)) return Status::kBadShape;
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  like_x.bytes = x.bytes;
  return same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

void run(const Call& call) {
  const Tensor& y = tensor(call, 2);
  const abi::IntQuantizeParams& p = params<abi::op_info::thimble_int_quantize>(tensor(call, 1));
  const int32_t* x = static_cast<const int32_t*>(tensor(call, 0).data);
  const int32_t low = p.wide != 0 ? INT16_MIN : INT8_MIN;
  const int32_t count = elements(y);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t limited = numerics::clamp(x[i], p.min, p.max);
    const int32_t scaled = numerics::requantize(limited, p.mult, p.shift);
    const int32_t code = numerics::clamp(numerics::wrap_add(scaled, p.y_zp), low, -1 - low);
    if (p.wide != 0) {
      static_cast<int16_t*>(y.data)[i] = static_cast<int16_t>(code);
    } else {
      static_cast<int8_t*>(y.data)[i] = static_cast<int8_t>(code);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_int_quantize, check, run);

}  // namespace thimble::kernels
