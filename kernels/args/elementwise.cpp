// SPDX-License-Identifier: Apache-2.0
// Stock operands of add: a, a_zp, a_mult, a_shift, b, b_zp, b_mult, b_shift, y_zp, y_mult, y_shift,
// min, max, y. Stock operands of mul: a, a_zp, b, b_zp, y_zp, mult, shift, y. Zero points are not
// negated.
//
// Native operands: a, b, AddParams or MulParams constant, y.

#include "kernels/args/elementwise.h"

#include "abi/ops/stock.h"
#include "kernels/args/broadcast_pair.h"

namespace thimble::kernels {
namespace {

constexpr Letters kAddLetters = letters(abi::op_info::cortex_m_quantized_add);
constexpr Letters kAddLetters12 = letters(abi::op_info::cortex_m_quantized_add_12);
constexpr Letters kMulLetters = letters(abi::op_info::cortex_m_quantized_mul);

}  // namespace

Status check_binary(const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  return check_broadcast_pair(a, b, y);
}

Binary bind_binary(const Tensor& a, const Tensor& b, const Tensor& y) {
  return {codes(a), codes(b), mutable_codes(y), broadcast_pair(y, a, b)};
}

Status check_add(const abi::AddParams& params) {
  // ExecuTorch implements subtraction as an addition with a negative multiplier.
  const auto is_factor = [](int32_t mult, int32_t shift) {
    return mult > INT32_MIN && numerics::shift_in_range(shift);
  };
  const bool fine =
      is_offset(params.a_offset) && is_offset(params.b_offset) && is_code(params.y_offset) &&
      are_bounds(params.min, params.max) && is_factor(params.a_mult, params.a_shift) &&
      is_factor(params.b_mult, params.b_shift) && is_scale(params.y_mult, params.y_shift) &&
      (params.b_negate == 0 || params.b_negate == 1);
  return fine ? Status::kOk : Status::kBadParameter;
}

Status check_mul(const abi::MulParams& params) {
  // Wider than int8: when ExecuTorch decomposes a hardswish, the zero point includes an addend.
  const auto is_addend = [](int32_t value) { return value >= -32767 && value <= 32767; };
  const bool fine = is_addend(params.a_offset) && is_addend(params.b_offset) &&
                    is_code(params.y_offset) && are_bounds(params.min, params.max) &&
                    is_scale(params.mult, params.shift);
  return fine ? Status::kOk : Status::kBadParameter;
}

abi::AddParams stock_add_params(const Call& call, bool has_limits) {
  abi::AddParams params;
  params.a_offset = numerics::wrap_sub(0, integer(call, 1));
  params.a_mult = integer(call, 2);
  params.a_shift = integer(call, 3);
  params.b_offset = numerics::wrap_sub(0, integer(call, 5));
  params.b_mult = integer(call, 6);
  params.b_shift = integer(call, 7);
  params.y_offset = integer(call, 8);
  params.y_mult = integer(call, 9);
  params.y_shift = integer(call, 10);
  params.min = has_limits ? integer(call, 11) : -128;
  params.max = has_limits ? integer(call, 12) : 127;
  params.b_negate = 0;
  return params;
}

abi::MulParams stock_mul_params(const Call& call) {
  abi::MulParams params;
  params.a_offset = numerics::wrap_sub(0, integer(call, 1));
  params.b_offset = numerics::wrap_sub(0, integer(call, 3));
  params.y_offset = integer(call, 4);
  params.mult = integer(call, 5);
  params.shift = integer(call, 6);
  params.min = -128;
  params.max = 127;
  return params;
}

template <bool kLimits>
Status check_stock_add(const Call& call) {
  if (!integers_fit(call, kLimits ? kAddLetters : kAddLetters12)) return Status::kBadParameter;
  const Status s = check_binary(tensor(call, 0), tensor(call, 4), tensor(call, kLimits ? 13 : 11));
  return s != Status::kOk ? s : check_add(stock_add_params(call, kLimits));
}
template Status check_stock_add<true>(const Call&);
template Status check_stock_add<false>(const Call&);

Status check_stock_mul(const Call& call) {
  if (!integers_fit(call, kMulLetters)) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_binary(tensor(call, 0), tensor(call, 2), tensor(call, 7)));
  return check_mul(stock_mul_params(call));
}

}  // namespace thimble::kernels
