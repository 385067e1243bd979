// SPDX-License-Identifier: Apache-2.0
// thimble::variance over any set of dimensions, in any dim_order; formula: docs/numerics.md, "Pools
// and reductions".
//
// Operands: x, parameters, y. y has the reduced dimensions as 1, or without them.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::VarianceParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const Tensor* const both[] = {&x, &y};
  for (const Tensor* t : both) THIMBLE_RETURN_IF_ERROR(check_tensor(*t, DType::kI8));
  THIMBLE_RETURN_IF_ERROR(
      check_params_and_dims<abi::op_info::thimble_variance>(tensor(call, 1), x.rank));
  const VarianceParams& p = params<abi::op_info::thimble_variance>(tensor(call, 1));
  const bool fine = (p.keepdim & ~1) == 0 && is_code(p.y_zp) && is_scale(p.mult, p.shift) &&
                    are_bounds(p.min, p.max);
  if (!fine) return Status::kBadParameter;
  const uint32_t mask = dims_mask(p.dims);
  if (reduced_count(x, mask) > kMaxReduced) return Status::kBadShape;
  return check_reduced_sizes(x, y, mask);
}

/// Returns n^2 times the variance of one group of values.
int64_t scaled_variance(StrideIterator& reduced, const int8_t* from, int64_t n) {
  int32_t sum = 0;
  uint64_t squares = 0;
  for_each_run(reduced, from, [&](const int8_t* at, int32_t count, int32_t step) {
    for (int32_t i = 0; i < count; ++i) {
      const int32_t code = at[i * step];
      sum += code;
      squares += static_cast<uint32_t>(code * code);
    }
  });
  return n * static_cast<int64_t>(squares) - static_cast<int64_t>(sum) * sum;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const VarianceParams& p = params<abi::op_info::thimble_variance>(tensor(call, 1));
  const uint32_t mask = dims_mask(p.dims);
  const int64_t n = reduced_count(x, mask);
  // 2^bits >= n
  const int32_t bits = 32 - numerics::count_leading_zeros(static_cast<uint32_t>(n - 1));
  const int32_t right = bits > 8 ? 2 * bits - 16 : 0;
  const int64_t half = int64_t{1} << (30 - p.shift);
  Reduction reduction(x, y, mask);
  for_each_result(reduction, codes(x), [&](int32_t to, const int8_t* from) {
    const int64_t v = scaled_variance(reduction.reduced, from, n) >> right;
    const int64_t code = ((v * p.mult + half) >> (31 - p.shift)) + p.y_zp;
    const int64_t limited = code < p.min ? p.min : code > p.max ? p.max : code;
    mutable_codes(y)[to] = static_cast<int8_t>(limited);
  });
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_variance, check, run);

}  // namespace thimble::kernels
