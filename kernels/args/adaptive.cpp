// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/adaptive.h"

namespace thimble::kernels {

Status check_adaptive_pool(const Call& call, uint32_t params_bytes) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(*t, x.dtype));
    if (t->rank != 4) return Status::kBadShape;
    if (!is_nhwc(*t)) return Status::kBadDimOrder;
  }
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  if (x.sizes[0] != y.sizes[0] || x.sizes[1] != y.sizes[1]) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_params(tensor(call, 1), params_bytes));
  const auto& size = static_cast<const abi::AdaptiveMaxPool2dParams*>(tensor(call, 1).data)->size;
  if (!size.is_complete()) return Status::kBadParameter;
  for (uint32_t side = 0; side < 2; ++side) {
    const AdaptiveAxis axis = adaptive_axis(call, side);
    if (size.items[side] != axis.out) return Status::kBadShape;
    // span() multiplies in 32 bits, so the product must fit.
    if ((int64_t{axis.out} + 1) * axis.in + axis.out > INT32_MAX) return Status::kBadShape;
  }
  return Status::kOk;
}

}  // namespace thimble::kernels
