// SPDX-License-Identifier: Apache-2.0
// thimble::int_reduce: sum, maximum, minimum or position of a maximum or minimum of int32 or bool,
// in any dim_order. Formula: docs/numerics.md, "Integers". Operands: x, parameters, y. y has the
// reduced dimensions as 1, or without them. any() is the maximum of bool, all() the minimum.

#include "abi/ops/integers.h"
#include "abi/params/integers.h"
#include "kernels/args/params.h"
#include "kernels/args/reduction.h"
#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kSum = 0, kMin = 2, kArgmax = 3, kArgmin = 4;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  THIMBLE_RETURN_IF_ERROR(
      check_params_and_dims<abi::op_info::thimble_int_reduce>(tensor(call, 1), x.rank));
  const abi::IntReduceParams& p = params<abi::op_info::thimble_int_reduce>(tensor(call, 1));
  const bool position = p.function >= kArgmax;
  const bool fine = p.function >= kSum && p.function <= kArgmin && (p.keepdim & ~1) == 0 &&
                    (!position || p.dims.count == 1);
  if (!fine) return Status::kBadParameter;
  if (x.dtype != DType::kI32 && (x.dtype != DType::kBool || p.function == kSum)) {
    return Status::kBadDType;
  }
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, position ? DType::kI32 : x.dtype));
  return check_reduced_sizes(x, y, dims_mask(p.dims));
}

/// The smallest element is found as the largest of the complements.
template <class T>
void run_type(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  const abi::IntReduceParams& p = params<abi::op_info::thimble_int_reduce>(tensor(call, 1));
  const int32_t flip = p.function == kMin || p.function == kArgmin ? -1 : 0;
  Reduction reduction(x, y, dims_mask(p.dims));
  for_each_result(reduction, static_cast<const T*>(x.data), [&](int32_t to, const T* from) {
    int32_t sum = 0, best = from[0] ^ flip, position = 0, at = 0;
    for_each_run(reduction.reduced, from, [&](const T* run, int32_t count, int32_t step) {
      for (int32_t i = 0; i < count; ++i, ++at) {
        const int32_t value = run[i * step];
        sum = numerics::wrap_add(sum, value);
        if ((value ^ flip) > best) {
          best = value ^ flip;
          position = at;
        }
      }
    });
    if (p.function >= kArgmax) {
      static_cast<int32_t*>(y.data)[to] = position;
    } else {
      static_cast<T*>(y.data)[to] = static_cast<T>(p.function == kSum ? sum : best ^ flip);
    }
  });
}

void run(const Call& call) {
  if (tensor(call, 0).dtype == DType::kI32) return run_type<int32_t>(call);
  run_type<uint8_t>(call);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_int_reduce, check, run);

}  // namespace thimble::kernels
