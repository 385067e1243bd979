// SPDX-License-Identifier: Apache-2.0
// thimble::rescale: converts between scales and between int8 and int16; formula: docs/numerics.md,
// "16-bit activations".
//
// Operands: x int8 or int16, parameters, y int8 or (wide) int16.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::RescaleParams;

bool is_zero_point(int32_t value, DType dtype) {
  return dtype == DType::kI16 ? value >= INT16_MIN && value <= INT16_MAX : is_code(value);
}

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t));
    if (t->dtype != DType::kI8 && t->dtype != DType::kI16) return Status::kBadDType;
  }
  if (!same_sizes(x, y)) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_rescale>(tensor(call, 1)));
  const RescaleParams& p = params<abi::op_info::thimble_rescale>(tensor(call, 1));
  if ((p.wide != 0) != (y.dtype == DType::kI16)) return Status::kBadDType;
  const bool fine =
      is_zero_point(p.x_zp, x.dtype) && is_zero_point(p.y_zp, y.dtype) && is_scale(p.mult, p.shift);
  if (!fine) return Status::kBadParameter;
  // x and y must have the same layout, but their element sizes may differ.
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  like_x.bytes = x.bytes;
  return same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

template <class From, class To>
void rescale(const RescaleParams& p, const void* from, void* to, int32_t count, int32_t min,
             int32_t max) {
  const From* x = static_cast<const From*>(from);
  To* y = static_cast<To*>(to);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t scaled = numerics::requantize(x[i] - p.x_zp, p.mult, p.shift);
    y[i] = static_cast<To>(numerics::clamp(numerics::wrap_add(scaled, p.y_zp), min, max));
  }
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const RescaleParams& p = params<abi::op_info::thimble_rescale>(tensor(call, 1));
  const int32_t count = elements(x);
  const bool narrow_x = x.dtype == DType::kI8;
  if (p.wide != 0) {
    narrow_x ? rescale<int8_t, int16_t>(p, x.data, y.data, count, INT16_MIN, INT16_MAX)
             : rescale<int16_t, int16_t>(p, x.data, y.data, count, INT16_MIN, INT16_MAX);
  } else {
    narrow_x ? rescale<int8_t, int8_t>(p, x.data, y.data, count, INT8_MIN, INT8_MAX)
             : rescale<int16_t, int8_t>(p, x.data, y.data, count, INT8_MIN, INT8_MAX);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_rescale, check, run);

}  // namespace thimble::kernels
