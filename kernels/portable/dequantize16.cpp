// SPDX-License-Identifier: Apache-2.0
// thimble::dequantize.i16; formula: docs/numerics.md, "Graph edges".
//
// Operands: x int16, scale, zero_point (0), y float32, which may have another dim_order.

#include "abi/ops/conversion.h"
#include "kernels/args/quantize.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

Status check(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::thimble_dequantize16;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  if (integer(call, 2) != 0) return Status::kBadParameter;
  return check_quantize_args(call, tensor(call, 3), DType::kI16, DType::kF32);
}

void run(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 3);

  StrideIterator& iterator = edge.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    const int16_t* x = static_cast<const int16_t*>(edge.x) + iterator.offset[1];
    float* y = static_cast<float*>(edge.y) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      y[i] = static_cast<float>(x[i * row.step[1]] - edge.zero_point) * edge.scale;
    }
  } while (iterator.next());
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_dequantize16, check, run);

}  // namespace thimble::kernels
