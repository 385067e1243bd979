// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/add_flat.h"

#include "abi/ops/arithmetic.h"
#include "kernels/args/operands.h"
#include "kernels/args/requant.h"

namespace thimble::kernels {

Status check_add_flat(const Call& call) {
  const Tensor& a = tensor(call, 0);
  const Tensor& b = tensor(call, 1);
  const Tensor& y = tensor(call, 3);
  const Tensor* const all[] = {&a, &b, &y};
  for (const Tensor* t : all) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_packed(tensor(call, 2), sizeof(abi::ParamsOf<abi::op_info::thimble_add_flat>)));
  const abi::AddFlat& p = add_flat(tensor(call, 2).data);
  if (a.bytes != p.count || b.bytes != p.count || y.bytes != p.count) return Status::kBadShape;
  const bool codes = is_code(p.a_zero_point) && is_code(p.b_zero_point) && is_code(p.y_zero_point);
  const bool shifts = p.b_shift >= -31 && p.b_shift <= 0 && p.y_shift >= -31 && p.y_shift < 0;
  const bool mults = p.b_mult >= 0 && p.y_mult >= 0;
  return codes && shifts && mults && are_bounds(p.min, p.max) ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
