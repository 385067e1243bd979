// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/int16_elementwise.h"

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"

namespace thimble::kernels {

Status check_add16(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  const bool wide = operands[0]->dtype == DType::kI16 && operands[1]->dtype == DType::kI16 &&
                    y.dtype == DType::kI16;
  if (!wide) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_add16>(tensor(call, 2)));
  const abi::Add16Params& p = params<abi::op_info::thimble_add16>(tensor(call, 2));
  const bool fine = is_scale(p.a_mult, p.a_shift) && is_scale(p.b_mult, p.b_shift) &&
                    is_scale(p.y_mult, p.y_shift) && are_bounds16(p.min, p.max);
  return fine ? Status::kOk : Status::kBadParameter;
}

Status check_lut16(const Call& call) {
  for (uint32_t i = 0; i < 3; ++i) {
    THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, i), DType::kI16));
  }
  if (elements(tensor(call, 1)) != numerics::kLut16Size) return Status::kBadShape;
  if (!same_sizes(tensor(call, 0), tensor(call, 2))) return Status::kBadShape;
  return same_layout(tensor(call, 0), tensor(call, 2)) ? Status::kOk : Status::kBadDimOrder;
}

}  // namespace thimble::kernels
