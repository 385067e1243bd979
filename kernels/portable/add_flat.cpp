// SPDX-License-Identifier: Apache-2.0
#include "kernels/args/add_flat.h"
#include "abi/ops/arithmetic.h"

#include "kernels/define_kernel.h"
#include "numerics/fixed_point.h"

namespace thimble::kernels {
namespace {

using numerics::requantize;

void run(void* const* operands) {
  const auto* a = static_cast<const int8_t*>(operands[0]);
  const auto* b = static_cast<const int8_t*>(operands[1]);
  const abi::AddFlat& p = add_flat(operands[2]);
  auto* y = static_cast<int8_t*>(operands[3]);
  const int32_t a_factor = p.a_negate != 0 ? -(1 << 19) : 1 << 19;
  const int32_t b_factor = p.b_negate != 0 ? -(1 << 20) : 1 << 20;
  for (uint32_t i = 0; i < p.count; ++i) {
    const int32_t narrow = requantize((b[i] - p.b_zero_point) * b_factor, p.b_mult, p.b_shift);
    const int32_t sum = (a[i] - p.a_zero_point) * a_factor + narrow;
    const int32_t code = requantize(sum, p.y_mult, p.y_shift) + p.y_zero_point;
    y[i] = static_cast<int8_t>(numerics::clamp(code, p.min, p.max));
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_add_flat, check_add_flat, run);

}  // namespace thimble::kernels
