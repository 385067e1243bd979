// SPDX-License-Identifier: Apache-2.0
// maximum and minimum of two integer tensors. Any integer type; operands broadcast. Formula:
// docs/numerics.md, "Choice". Operands: a, b, y.
//
// In place: y may be a (or b), if that operand has y's shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  const bool one_type = operands[0]->dtype == y.dtype && operands[1]->dtype == y.dtype;
  return one_type && is_integer_type(y.dtype) ? Status::kOk : Status::kBadDType;
}

void run_maximum(const Call& call) {
  const Tensor& y = tensor(call, 2);
  dispatch_integer_type(y.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_pairs<T, T>(tensor(call, 0), tensor(call, 1), y, [](T a, T b) { return a > b ? a : b; });
  });
}

void run_minimum(const Call& call) {
  const Tensor& y = tensor(call, 2);
  dispatch_integer_type(y.dtype, [&](auto zero) {
    using T = decltype(zero);
    for_pairs<T, T>(tensor(call, 0), tensor(call, 1), y, [](T a, T b) { return a < b ? a : b; });
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_maximum, check, run_maximum);
THIMBLE_DEFINE_KERNEL(portable, thimble_minimum, check, run_minimum);

}  // namespace thimble::kernels
