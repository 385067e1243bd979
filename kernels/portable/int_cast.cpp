// SPDX-License-Identifier: Apache-2.0
// thimble::int_cast: bool, int32 or int64 to int32 or int64; int64 to int32 saturates. Formula:
// docs/numerics.md, "Integers". Operands: x, parameters, y, which have one layout.

#include "abi/ops/integers.h"
#include "abi/params/integers.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t));
    const bool whole = t->dtype == DType::kI32 || t->dtype == DType::kI64;
    if (!whole && (t == &y || t->dtype != DType::kBool)) return Status::kBadDType;
  }
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_int_cast>(tensor(call, 1)));
  if (!same_sizes(x, y)) return Status::kBadShape;
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  like_x.bytes = x.bytes;
  return same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

int64_t element(const Tensor& x, int32_t i) {
  if (x.dtype == DType::kI64) return static_cast<const int64_t*>(x.data)[i];
  if (x.dtype == DType::kI32) return static_cast<const int32_t*>(x.data)[i];
  return static_cast<const uint8_t*>(x.data)[i];
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; ++i) {
    const int64_t value = element(x, i);
    if (y.dtype == DType::kI64) {
      static_cast<int64_t*>(y.data)[i] = value;
    } else {
      const int64_t low = value < INT32_MIN ? INT32_MIN : value;
      static_cast<int32_t*>(y.data)[i] = static_cast<int32_t>(low > INT32_MAX ? INT32_MAX : low);
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_int_cast, check, run);

}  // namespace thimble::kernels
