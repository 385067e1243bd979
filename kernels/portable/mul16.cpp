// SPDX-License-Identifier: Apache-2.0
// thimble::mul.i16; formula: docs/numerics.md, "16-bit activations".
//
// Operands: a, b, parameters, y; a and b broadcast. In place: y may be a (or
// b), if that operand has y's shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::Mul16Params;

const Mul16Params& params_of(const Call& call) {
  return params<abi::op_info::thimble_mul16>(tensor(call, 2));
}

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  const bool wide = operands[0]->dtype == DType::kI16 && operands[1]->dtype == DType::kI16 &&
                    y.dtype == DType::kI16;
  if (!wide) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_mul16>(tensor(call, 2)));
  const Mul16Params& p = params_of(call);
  return is_scale(p.mult, p.shift) && are_bounds16(p.min, p.max) ? Status::kOk
                                                                 : Status::kBadParameter;
}

void run(const Call& call) {
  const Mul16Params& p = params_of(call);
  for_pairs<int16_t, int16_t>(tensor(call, 0), tensor(call, 1), tensor(call, 3),
                              [&p](int16_t a, int16_t b) {
                                const int32_t y = numerics::requantize(a * b, p.mult, p.shift);
                                return static_cast<int16_t>(numerics::clamp(y, p.min, p.max));
                              });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_mul16, check, run);

}  // namespace thimble::kernels
