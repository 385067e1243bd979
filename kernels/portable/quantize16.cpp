// SPDX-License-Identifier: Apache-2.0
// thimble::quantize.i16; formula: docs/numerics.md, "Graph edges".
//
// Operands: x float32, scale, zero_point (0), y int16, which may have another dim_order.

#include "abi/ops/conversion.h"
#include "kernels/args/quantize.h"
#include "kernels/define_kernel.h"
#include "numerics/int16.h"
namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::thimble_quantize16;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  if (integer(call, 2) != 0) return Status::kBadParameter;
  return check_quantize_args(call, tensor(call, 3), DType::kF32, DType::kI16);
}

void run(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 3);
  const float inverse = 1.0F / edge.scale;
  StrideIterator& iterator = edge.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    const float* x = static_cast<const float*>(edge.x) + iterator.offset[1];
    int16_t* y = static_cast<int16_t*>(edge.y) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      y[i] = numerics::quantize_i16(x[i * row.step[1]], inverse);
    }
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_quantize16, check, run);

}  // namespace thimble::kernels
