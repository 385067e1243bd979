// SPDX-License-Identifier: Apache-2.0
// thimble::mean over any set of dimensions, in any dim_order; formula: docs/numerics.md, "Pools and
// reductions".
//
// Operands: x, MeanParams constant, y. y has the reduced dimensions as 1, or without them.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// Maximum number of summed values: 255 * kMaxCount fits 31 bits, so the sum cannot overflow.
constexpr int64_t kMaxCount = INT32_MAX / 255;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_blob(tensor(call, 1), sizeof(abi::ParamsOf<abi::op_info::thimble_mean>)));
  const abi::MeanParams params = read_params<abi::op_info::thimble_mean>(tensor(call, 1));
  const bool fine = params.dims_mask != 0 && params.dims_mask < 1U << x.rank &&
                    is_offset(params.x_offset) && is_code(params.y_offset) &&
                    are_bounds(params.min, params.max) && is_scale(params.mult, params.shift);
  if (!fine) return Status::kBadParameter;
  if (reduced_count(x, params.dims_mask) > kMaxCount) return Status::kBadShape;
  return check_reduced_sizes(x, y, params.dims_mask);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const abi::MeanParams params = read_params<abi::op_info::thimble_mean>(tensor(call, 1));
  Reduction reduction(x, y, params.dims_mask);
  for_each_result(reduction, codes(x), [&](int32_t to, const int8_t* from) {
    int32_t total = 0;
    for_each_run(reduction.reduced, from, [&](const int8_t* at, int32_t count, int32_t step) {
      for (int32_t i = 0; i < count; ++i) total += at[i * step] + params.x_offset;
    });
    const int32_t scaled = numerics::requantize(total, params.mult, params.shift);
    const int32_t code = numerics::wrap_add(scaled, params.y_offset);
    mutable_codes(y)[to] = static_cast<int8_t>(numerics::clamp(code, params.min, params.max));
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_mean, check, run);

}  // namespace thimble::kernels
