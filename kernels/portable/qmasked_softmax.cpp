// SPDX-License-Identifier: Apache-2.0
// thimble::masked_softmax.out over the innermost dimension; formula: docs/numerics.md, "Masked
// softmax".
//
// Operands: x, parameters, y. In place: y may be x.

#include "abi/ops/normalization.h"
#include "abi/params/softmax.h"
#include "kernels/args/params.h"
#include "kernels/args/rows.h"
#include "kernels/define_kernel.h"
#include "numerics/softmax.h"

namespace thimble::kernels {
namespace {

using abi::SoftmaxParams;

Status check(const Call& call) {
  THIMBLE_RETURN_IF_ERROR(check_params<abi::op_info::thimble_qmasked_softmax>(tensor(call, 1)));
  const SoftmaxParams& p = params<abi::op_info::thimble_qmasked_softmax>(tensor(call, 1));
  THIMBLE_RETURN_IF_ERROR(
      check_rows(tensor(call, 0), tensor(call, 2), static_cast<uint32_t>(p.dim)));
  const bool fine = p.mult >= 0 && p.shift >= 0 && p.shift <= 31 && p.diff_min <= 0;
  return fine ? Status::kOk : Status::kBadParameter;
}

void run(const Call& call) {
  const Tensor& x = tensor(call, 0);
  const SoftmaxParams& p = params<abi::op_info::thimble_qmasked_softmax>(tensor(call, 1));
  const numerics::Softmax softmax = {p.mult, p.shift, p.diff_min, -127};
  const int32_t length = x.sizes[p.dim];
  const int32_t count = elements(x);
  for (int32_t i = 0; i < count; i += length) {
    softmax.row(codes(x) + i, length, mutable_codes(tensor(call, 2)) + i);
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_qmasked_softmax, check, run);

}  // namespace thimble::kernels
