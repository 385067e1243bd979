// SPDX-License-Identifier: Apache-2.0
// dequantize: cortex_m::dequantize_per_tensor and thimble::dequantize; formula: docs/numerics.md,
// "Graph edges".
//
// Stock operands: x int8, scale, zero_point, quant_min, quant_max, dtype (1 = int8), y float32,
// with the dim_order of x.
//
// Native operands: x int8, scale, zero_point, y float32, which may have another dim_order.

#include "abi/ops/conversion.h"
#include "abi/ops/stock.h"
#include "kernels/args/quantize.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(QuantizeArgs& edge) {
  StrideIterator& iterator = edge.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    const int8_t* x = static_cast<const int8_t*>(edge.x) + iterator.offset[1];
    float* y = static_cast<float*>(edge.y) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      y[i] = numerics::dequantize_i8(x[i * row.step[1]], edge.scale, edge.zero_point);
    }
  } while (iterator.next());
}

Status check_stock(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_dequantize_per_tensor;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  return check_stock_quantize_args(call, DType::kI8, DType::kF32);
}

void run_stock(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 6);
  run(edge);
}

Status check_native(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::thimble_dequantize;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  return check_quantize_args(call, tensor(call, 3), DType::kI8, DType::kF32);
}

void run_native(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 3);
  run(edge);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_dequantize_per_tensor, check_stock, run_stock);
THIMBLE_DEFINE_KERNEL(portable, thimble_dequantize, check_native, run_native);

}  // namespace thimble::kernels
