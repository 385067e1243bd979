// SPDX-License-Identifier: Apache-2.0
// div: quotient of int8 tensors. Formula: docs/numerics.md, "Addition, subtraction,
// multiplication", qdiv. Operands: a, b, parameters, y; a and b broadcast.
//
// In place: y may be a (or b), if that operand has y's shape and dim_order.

#include "abi/ops/arithmetic.h"
#include "abi/params/arithmetic.h"
#include "kernels/args/broadcast.h"
#include "kernels/args/elementwise.h"
#include "kernels/args/params.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::DivParams;

// |quotient| < 2^28, so a shift of at most 3 does not overflow.
constexpr int32_t kShiftMax = 3;

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_binary(tensor(call, 0), tensor(call, 1), tensor(call, 3)));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_div>(tensor(call, 2)));
  const DivParams& p = params<abi::op_info::thimble_div>(tensor(call, 2));
  const bool fine = is_code(p.a_zp) && is_code(p.b_zp) && is_code(p.y_zp) &&
                    is_scale(p.mult, p.shift) && p.shift <= kShiftMax && are_bounds(p.min, p.max) &&
                    p.rounding == 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

/// Returns a * 2^20 / b to nearest, halves away from zero; b is not 0.
int32_t quotient(int32_t a, int32_t b) {
  const bool negative = (a < 0) != (b < 0);
  const uint32_t numerator = static_cast<uint32_t>(a < 0 ? -a : a) << 20;
  const uint32_t divisor = static_cast<uint32_t>(b < 0 ? -b : b);
  const int32_t magnitude = static_cast<int32_t>((2 * numerator + divisor) / (2 * divisor));
  return negative ? -magnitude : magnitude;
}

int8_t divide(int32_t a, int32_t b, const DivParams& p) {
  if (b == 0) {
    return static_cast<int8_t>(a > 0   ? p.max
                               : a < 0 ? p.min
                                       : numerics::clamp(p.y_zp, p.min, p.max));
  }
  const int32_t scaled = numerics::requantize(quotient(a, b), p.mult, p.shift);
  return static_cast<int8_t>(numerics::clamp(scaled + p.y_zp, p.min, p.max));
}

void run(const Call& call) {
  const DivParams p = params<abi::op_info::thimble_div>(tensor(call, 2));
  for_pairs<int8_t, int8_t>(tensor(call, 0), tensor(call, 1), tensor(call, 3),
                            [&](int8_t a, int8_t b) { return divide(a - p.a_zp, b - p.b_zp, p); });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_div, check, run);

}  // namespace thimble::kernels
