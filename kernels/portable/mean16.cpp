// SPDX-License-Identifier: Apache-2.0
// thimble::mean.i16 over any set of dimensions, in any dim_order; formula: docs/numerics.md,
// "16-bit activations".
//
// Operands: x, parameters, y. y has the reduced dimensions as 1,
// or without them.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::Mean16Params;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x, DType::kI16));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI16));
  THIMBLE_RETURN_IF_ERROR(
      check_params_and_dims<abi::op_info::thimble_mean16>(tensor(call, 1), x.rank));
  const Mean16Params& p = params<abi::op_info::thimble_mean16>(tensor(call, 1));
  if (!is_scale16(p.mult, p.shift) || !are_bounds16(p.min, p.max)) {
    return Status::kBadParameter;
  }
  return check_reduced_sizes(x, y, dims_mask(p.dims));
}

int64_t sum(const int16_t* x, StrideIterator& reduced) {
  int64_t total = 0;
  do {
    const StrideIterator::Axis& row = reduced.row();
    const int16_t* at = x + reduced.offset[1];
    for (int32_t i = 0; i < row.extent; ++i) total += at[i * row.step[1]];
  } while (reduced.next());
  return total;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Mean16Params& p = params<abi::op_info::thimble_mean16>(tensor(call, 1));
  Reduction reduction(x, y, dims_mask(p.dims));
  StrideIterator& kept = reduction.kept;
  do {
    const StrideIterator::Axis& row = kept.row();
    for (int32_t i = 0; i < row.extent; ++i) {
      const int16_t* from = codes16(x) + kept.offset[1] + i * row.step[1];
      const int32_t mean = numerics::requantize64(sum(from, reduction.reduced), p.mult, p.shift);
      mutable_codes16(y)[kept.offset[0] + i * row.step[0]] =
          static_cast<int16_t>(numerics::clamp(mean, p.min, p.max));
    }
  } while (kept.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_mean16, check, run);

}  // namespace thimble::kernels
