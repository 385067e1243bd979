// SPDX-License-Identifier: Apache-2.0
// thimble::cumsum along one dimension, in any dim_order; formula: docs/numerics.md, "Pools and
// reductions".
//
// Operands: x, parameters, y.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::CumsumParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_cumsum>(tensor(call, 1)));
  const CumsumParams& p = params<abi::op_info::thimble_cumsum>(tensor(call, 1));
  const bool fine = static_cast<uint32_t>(p.dim) < x.rank && is_code(p.x_zp) && is_code(p.y_zp) &&
                    is_scale(p.mult, p.shift) && are_bounds(p.min, p.max) && p.rounding == 0;
  if (!fine) return Status::kBadParameter;
  return same_sizes(x, y) && x.sizes[p.dim] <= kMaxReduced ? Status::kOk : Status::kBadShape;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const CumsumParams p = params<abi::op_info::thimble_cumsum>(tensor(call, 1));
  int32_t steps_x[abi::kMaxRank];
  int32_t steps_y[abi::kMaxRank];
  strides(x, steps_x);
  strides(y, steps_y);
  StrideIterator rows;
  for (uint32_t i = 0; i < y.rank; ++i) {
    const uint32_t d = y.dim_order[i];
    if (d != static_cast<uint32_t>(p.dim)) rows.push(y.sizes[d], steps_y[d], steps_x[d]);
  }
  const int32_t count = x.sizes[p.dim];
  do {
    const StrideIterator::Axis& across = rows.row();
    for (int32_t k = 0; k < across.extent; ++k) {
      const int8_t* from = codes(x) + rows.offset[1] + k * across.step[1];
      int8_t* to = mutable_codes(y) + rows.offset[0] + k * across.step[0];
      int32_t sum = 0;
      for (int32_t i = 0; i < count; ++i) {
        sum += from[i * steps_x[p.dim]] - p.x_zp;
        const int32_t scaled = numerics::requantize(sum, p.mult, p.shift);
        const int32_t code = numerics::wrap_add(scaled, p.y_zp);
        to[i * steps_y[p.dim]] = static_cast<int8_t>(numerics::clamp(code, p.min, p.max));
      }
    }
  } while (rows.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_cumsum, check, run);

}  // namespace thimble::kernels
