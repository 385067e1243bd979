// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/mean_run.h"

#include "abi/ops/reduction.h"
#include "kernels/args/loop_nest.h"

namespace thimble::kernels {
namespace {

/// Maximum number of summed values: 255 * kMaxCount fits 31 bits, so the sum cannot overflow.
constexpr uint32_t kMaxCount = INT32_MAX / 255;

}  // namespace

Status check_mean_run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 1), sizeof(abi::ParamsOf<abi::op_info::thimble_mean_run>)));
  const auto& p = packed<abi::op_info::thimble_mean_run>(tensor(call, 1));
  const bool fits = p.count != 0 && p.count <= kMaxCount &&
                    uint64_t{p.outer} * p.inner == y.bytes &&
                    uint64_t{y.bytes} * p.count == x.bytes;
  if (!fits) return Status::kBadShape;
  const bool fine = is_offset(p.mean.x_offset) && is_code(p.mean.y_offset) &&
                    are_bounds(p.mean.min, p.mean.max) && is_scale(p.mean.mult, p.mean.shift);
  return fine ? Status::kOk : Status::kBadParameter;
}

}  // namespace thimble::kernels
