// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_activation: y = table[x + 128]; formula: docs/numerics.md, "Tables".
//
// Operands: x, table int8[256], y. In place: y may be x.

#include "abi/ops/stock.h"
#include "kernels/args/operands.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  for (uint32_t i = 0; i < 3; ++i)
    THIMBLE_RETURN_IF_ERROR(check_tensor(tensor(call, i), DType::kI8));
  if (elements(tensor(call, 1)) != 256) return Status::kBadShape;
  if (!same_sizes(tensor(call, 0), tensor(call, 2))) return Status::kBadShape;
  return same_layout(tensor(call, 0), tensor(call, 2)) ? Status::kOk : Status::kBadDimOrder;
}

void run(const Call& call) {
  const int8_t* x = codes(tensor(call, 0));
  const int8_t* middle = codes(tensor(call, 1)) + 128;
  int8_t* y = mutable_codes(tensor(call, 2));
  const int32_t count = elements(tensor(call, 2));
  for (int32_t i = 0; i < count; ++i) y[i] = middle[x[i]];
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_activation, check, run);

}  // namespace thimble::kernels
