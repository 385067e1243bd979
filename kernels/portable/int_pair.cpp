// SPDX-License-Identifier: Apache-2.0
// thimble::int_pair: arithmetic on two int32 tensors, which wraps; operands broadcast. Formula:
// docs/numerics.md, "Integers". Operands: a, b, parameters, y.
//
// In place: y may be a (or b), if that operand has y's shape and dim_order.

#include "abi/ops/integers.h"
#include "abi/params/integers.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kFunctions = 10;

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  const bool whole = operands[0]->dtype == DType::kI32 && operands[1]->dtype == DType::kI32 &&
                     y.dtype == DType::kI32;
  if (!whole) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_int_pair>(tensor(call, 2)));
  const int32_t function = params<abi::op_info::thimble_int_pair>(tensor(call, 2)).function;
  return function >= 0 && function < kFunctions ? Status::kOk : Status::kBadParameter;
}

/// Returns quotient or rest of a division, rounded down or toward zero. A division by 0 gives 0.
int32_t divide(int32_t a, int32_t b, bool down, bool rest) {
  if (b == 0) return 0;
  if (b == -1) return rest ? 0 : numerics::wrap_sub(0, a);
  int32_t quotient = a / b;
  int32_t remainder = a - quotient * b;
  if (down && remainder != 0 && (a < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return rest ? remainder : quotient;
}

int32_t apply(int32_t function, int32_t a, int32_t b) {
  switch (function) {
    case 0:
      return numerics::wrap_add(a, b);
    case 1:
      return numerics::wrap_sub(a, b);
    case 2:
      return numerics::wrap_mul(a, b);
    case 7:
      return a & b;
    case 8:
      return a | b;
    case 9:
      return a ^ b;
    default:  // 3 and 5 round down, 5 and 6 return the rest
      return divide(a, b, (function & 1) != 0, function >= 5);
  }
}

void run(const Call& call) {
  const int32_t function = params<abi::op_info::thimble_int_pair>(tensor(call, 2)).function;
  for_pairs<int32_t, int32_t>(tensor(call, 0), tensor(call, 1), tensor(call, 3),
                              [=](int32_t a, int32_t b) { return apply(function, a, b); });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_int_pair, check, run);

}  // namespace thimble::kernels
