// SPDX-License-Identifier: Apache-2.0
// thimble::int_cumsum: sums of int32 along one dimension, which wrap; in any dim_order. Formula:
// docs/numerics.md, "Integers". Operands: x, parameters, y.

#include "abi/ops/integers.h"
#include "abi/params/integers.h"
#include "kernels/args/params.h"
#include "kernels/args/stride_iterator.h"
#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI32));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_int_cumsum>(tensor(call, 1)));
  const int32_t dim = params<abi::op_info::thimble_int_cumsum>(tensor(call, 1)).dim;
  if (static_cast<uint32_t>(dim) >= x.rank) return Status::kBadParameter;
  return same_sizes(x, y) ? Status::kOk : Status::kBadShape;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const int32_t dim = params<abi::op_info::thimble_int_cumsum>(tensor(call, 1)).dim;
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator rows;
  for (uint32_t i = 0; i < y.rank; ++i) {
    const uint32_t d = y.dim_order[i];
    if (d != static_cast<uint32_t>(dim)) rows.push(y.sizes[d], steps_y[d], steps_x[d]);
  }
  do {
    const StrideIterator::Axis& across = rows.row();
    for (int32_t k = 0; k < across.extent; ++k) {
      const int32_t* from =
          static_cast<const int32_t*>(x.data) + rows.offset[1] + k * across.step[1];
      int32_t* to = static_cast<int32_t*>(y.data) + rows.offset[0] + k * across.step[0];
      int32_t sum = 0;
      for (int32_t i = 0; i < x.sizes[dim]; ++i) {
        sum = numerics::wrap_add(sum, from[i * steps_x[dim]]);
        to[i * steps_y[dim]] = sum;
      }
    }
  } while (rows.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_int_cumsum, check, run);

}  // namespace thimble::kernels
