// SPDX-License-Identifier: Apache-2.0
// thimble::amax and thimble::amin over any set of dimensions, in any dim_order; docs/numerics.md,
// "Pools and reductions". int8 or int16.
//
// Operands: x, parameters, y. y has the reduced dimensions as 1, or without them.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::ReduceParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, x.dtype));
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(
      check_params_and_dims<abi::op_info::thimble_amax>(tensor(call, 1), x.rank));
  const ReduceParams& p = params<abi::op_info::thimble_amax>(tensor(call, 1));
  if ((p.keepdim & ~1) != 0) return Status::kBadParameter;
  return check_reduced_sizes(x, y, dims_mask(p.dims));
}

/// `flip` is -1 for amin, else 0. Elements are compared after XOR with `flip`; XOR with -1 reverses
/// their order.
template <class T>
void run_type(const Call& call, int32_t flip) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  Reduction reduction(x, y, dims_mask(params<abi::op_info::thimble_amax>(tensor(call, 1)).dims));
  for_each_result(reduction, static_cast<const T*>(x.data), [&](int32_t to, const T* from) {
    int32_t best = from[0] ^ flip;
    for_each_run(reduction.reduced, from, [&](const T* at, int32_t count, int32_t step) {
      for (int32_t i = 0; i < count; ++i) {
        const int32_t code = at[i * step] ^ flip;
        best = code > best ? code : best;
      }
    });
    static_cast<T*>(y.data)[to] = static_cast<T>(best ^ flip);
  });
}

void run(const Call& call, int32_t flip) {
  if (tensor(call, 0).dtype == DType::kI8) return run_type<int8_t>(call, flip);
  run_type<int16_t>(call, flip);
}

void run_amax(const Call& call) {
  run(call, 0);
}
void run_amin(const Call& call) {
  run(call, -1);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_amax, check, run_amax);
THIMBLE_DEFINE_KERNEL(portable, thimble_amin, check, run_amin);

}  // namespace thimble::kernels
