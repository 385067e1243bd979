// SPDX-License-Identifier: Apache-2.0
// prelu: one scale for values of at least zero, the slopes in an operand for negative values.
// Formula: docs/numerics.md, qprelu. Operands: x, w, parameters, y; w broadcasts.
//
// In place: y may be x, if it has the same dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/elementwise.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::PreluParams;

Status check(const Call& call) {
  const Tensor& y = tensor(call, 3);
  THIMBLE_RETURN_IF_ERROR(check_binary(tensor(call, 0), tensor(call, 1), y));
  if (!same_sizes(tensor(call, 0), y)) return Status::kBadShape;
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_prelu>(tensor(call, 2)));
  const PreluParams& p = params<abi::op_info::thimble_prelu>(tensor(call, 2));
  const bool fine = is_code(p.x_zp) && is_code(p.w_zp) && is_code(p.y_zp) &&
                    is_scale(p.mult, p.shift) && is_scale(p.w_mult, p.w_shift) &&
                    are_bounds(p.min, p.max) && p.rounding == 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

int8_t scale(int32_t x, int32_t w, const PreluParams& p) {
  const int32_t scaled = x >= 0 ? numerics::requantize(x, p.mult, p.shift)
                                : numerics::requantize(x * w, p.w_mult, p.w_shift);
  return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, p.y_zp), p.min, p.max));
}

void run(const Call& call) {
  const PreluParams p = params<abi::op_info::thimble_prelu>(tensor(call, 2));
  for_pairs<int8_t, int8_t>(tensor(call, 0), tensor(call, 1), tensor(call, 3),
                            [&](int8_t x, int8_t w) { return scale(x - p.x_zp, w - p.w_zp, p); });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_prelu, check, run);

}  // namespace thimble::kernels
