// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/lut_packed.h"

#include "abi/ops/arithmetic.h"

namespace thimble::kernels {

Status check_lut_packed(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 1), sizeof(abi::ParamsOf<abi::op_info::thimble_lut_packed>)));
  const uint32_t count = packed<abi::op_info::thimble_lut_packed>(tensor(call, 1)).count;
  return x.bytes == count && y.bytes == count ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
