// SPDX-License-Identifier: Apache-2.0
// thimble::softmax.i16 over the dimension that is innermost in memory, from int8 or int16 to
// int16 with scale 1/32768; formula: docs/numerics.md, "16-bit activations", and
// numerics/softmax.h.
//
// Operands: x, parameters, y.

#include "numerics/softmax16.h"
#include "abi/ops/normalization.h"
#include "abi/params/softmax.h"
#include "kernels/args/params.h"
#include "kernels/args/requant16.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

using abi::SoftmaxParams;

Status check(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const Tensor& y = tensor(call, 2);
  THIMBLE_RETURN_IF_ERROR(check_tensor(x));
  if (x.dtype != DType::kI8 && x.dtype != DType::kI16) return Status::kBadDType;
  THIMBLE_RETURN_IF_ERROR(check_tensor(y, DType::kI16));
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_softmax16>(tensor(call, 1)));
  const SoftmaxParams& p = params<abi::op_info::thimble_softmax16>(tensor(call, 1));
  if (!same_sizes(x, y) || p.dim < 0 || p.dim >= x.rank) return Status::kBadShape;
  if (p.mult < 0 || p.shift < 0 || p.shift > 31 || p.diff_min > 0) return Status::kBadParameter;
  Tensor like_x = y;
  like_x.dtype = x.dtype;
  like_x.bytes = x.bytes;
  int32_t steps[abi::kMaxRank];
  strides(x, steps);
  const bool innermost = steps[p.dim] == 1 || x.sizes[p.dim] == 1;
  return innermost && same_layout(x, like_x) ? Status::kOk : Status::kBadDimOrder;
}

template <class T>
void rows(const numerics::Softmax& softmax, const T* x, int32_t length, int32_t count, int16_t* y) {
  for (int32_t i = 0; i < count; i += length)
    numerics::softmax16_row(softmax, x + i, length, y + i);
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const SoftmaxParams& p = params<abi::op_info::thimble_softmax16>(tensor(call, 1));
  numerics::Softmax softmax = {};
  softmax.mult = p.mult;
  softmax.shift = p.shift;
  softmax.diff_min = p.diff_min;
  const int32_t length = x.sizes[p.dim];
  int16_t* y = mutable_codes16(tensor(call, 2));
  if (x.dtype == DType::kI8) {
    rows(softmax, codes(x), length, elements(x), y);
  } else {
    rows(softmax, codes16(x), length, elements(x), y);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_softmax16, check, run);

}  // namespace thimble::kernels
