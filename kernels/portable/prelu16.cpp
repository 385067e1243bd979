// SPDX-License-Identifier: Apache-2.0
// thimble::prelu.i16; formula: docs/numerics.md, "16-bit activations".
//
// Operands: x, w, parameters, y; w broadcasts. In place: y may
// be x, if it has the same dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using numerics::requantize;

using abi::Prelu16Params;

Status check(const Call& call) {
  const Tensor* const operands[] = {&tensor(call, 0), &tensor(call, 1)};
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_broadcast(operands, 2, y));
  const bool wide = operands[0]->dtype == DType::kI16 && operands[1]->dtype == DType::kI16 &&
                    y.dtype == DType::kI16;
  if (!wide) return Status::kBadDType;
  if (!same_sizes(*operands[0], y)) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_prelu16>(tensor(call, 2)));
  const Prelu16Params& p = params<abi::op_info::thimble_prelu16>(tensor(call, 2));
  const bool fine =
      is_scale(p.mult, p.shift) && is_scale(p.w_mult, p.w_shift) && are_bounds16(p.min, p.max);
  return fine ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  const Prelu16Params& p = params<abi::op_info::thimble_prelu16>(tensor(call, 2));
  for_pairs<int16_t, int16_t>(
      tensor(call, 0), tensor(call, 1), tensor(call, 3), [&p](int16_t x, int16_t w) {
        const int32_t y =
            x >= 0 ? requantize(x, p.mult, p.shift) : requantize(x * w, p.w_mult, p.w_shift);
        return static_cast<int16_t>(numerics::clamp(y, p.min, p.max));
      });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_prelu16, check, run);

}  // namespace thimble::kernels
