// SPDX-License-Identifier: Apache-2.0
// thimble::argmax along one dimension, in any dim_order; docs/numerics.md, "Pools and reductions".
//
// Operands: x int8 or int16, parameters, y int64. y has the dimension as
// 1, or without it.

#include "abi/ops/reduction.h"
#include "abi/params/reduction.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::ArgmaxParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI64));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_argmax>(tensor(call, 1)));
  const ArgmaxParams& p = params<abi::op_info::thimble_argmax>(tensor(call, 1));
  const bool fine = static_cast<uint32_t>(p.dim) < x.rank && ((p.keepdim | p.smallest) & ~1) == 0;
  if (!fine) return Status::kBadParameter;
  return check_reduced_sizes(x, y, 1U << p.dim);
}

template <class T>
void run_type(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const ArgmaxParams& p = params<abi::op_info::thimble_argmax>(tensor(call, 1));
  const int32_t flip = -p.smallest;  // XOR with -1 reverses the order of the elements
  Reduction reduction(x, y, 1U << p.dim);
  const StrideIterator::Axis& row = reduction.reduced.row();
  for_each_result(reduction, static_cast<const T*>(x.data), [&](int32_t to, const T* from) {
    int32_t best = from[0] ^ flip;
    int32_t position = 0;
    for (int32_t i = 1; i < row.extent; ++i) {
      const int32_t code = from[i * row.step[1]] ^ flip;
      if (code > best) {
        best = code;
        position = i;
      }
    }
    static_cast<int64_t*>(y.data)[to] = position;
  });
}

void run(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI8) return run_type<int8_t>(call);
  run_type<int16_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_argmax, check, run);

}  // namespace thimble::kernels
