// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/softmax_rows.h"

#include "abi/ops/normalization.h"

namespace thimble::kernels {

Status check_softmax_rows(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 1), sizeof(abi::ParamsOf<abi::op_info::thimble_softmax_rows>)));
  const auto& p = packed<abi::op_info::thimble_softmax_rows>(tensor(call, 1));
  if (p.wide > 1) return Status::kBadParameter;
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, p.wide != 0 ? DType::kI16 : DType::kI8));
  const bool fits =
      p.length >= 1 && y.bytes == x.bytes << p.wide && uint64_t{p.rows} * p.length == x.bytes;
  return fits ? Status::kOk : Status::kBadShape;
}

}  // namespace thimble::kernels
