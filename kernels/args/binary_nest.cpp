// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/binary_nest.h"

#include "abi/ops/arithmetic.h"

namespace thimble::kernels {

Status check_binary_nest(const Call& call, const abi::LoopNest& nest) {
  static constexpr uint32_t kCodes[] = {0, 1, 3};
  for (const uint32_t i : kCodes)
    THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, i), DType::kI8));
  const bool inside = is_within(nest, 0, tensor(call, 0).bytes) &&
                      is_within(nest, 1, tensor(call, 1).bytes) &&
                      element_count(nest) == tensor(call, 3).bytes;
  return inside ? Status::kOk : Status::kBadShape;
}

Status check_mul_nest(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 2), sizeof(abi::ParamsOf<abi::op_info::thimble_mul_nest>)));
  const auto& p = packed<abi::op_info::thimble_mul_nest>(tensor(call, 2));
  THIMBLE_RETURN_IF_ERROR(check_binary_nest(call, p.nest));
  const auto is_addend = [](int32_t value) { return value >= -32767 && value <= 32767; };
  const bool fine = is_addend(p.mul.a_offset) && is_addend(p.mul.b_offset) &&
                    is_code(p.mul.y_offset) && are_bounds(p.mul.min, p.mul.max) &&
                    is_scale(p.mul.mult, p.mul.shift);
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
