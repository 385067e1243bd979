// SPDX-License-Identifier: Apache-2.0
// quantize: cortex_m::quantize_per_tensor and thimble::quantize; formula: docs/numerics.md, "Graph
// edges".
//
// Stock operands: x float32, scale, zero_point, quant_min, quant_max, dtype (1 = int8), y int8,
// with the dim_order of x.
//
// Native operands: x float32, scale, zero_point, y int8, which may have another dim_order, so that
// the change from NCHW to NHWC needs no separate pass.

#include "kernels/args/quantize.h"
#include "abi/ops/conversion.h"
#include "abi/ops/stock.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

void run(QuantizeArgs& edge, int32_t min, int32_t max) {
  const float inverse = 1.0F / edge.scale;
  StrideIterator& iterator = edge.iterator;
  do {
    const StrideIterator::Axis& row = iterator.row();
    const float* x = static_cast<const float*>(edge.x) + iterator.offset[1];
    int8_t* y = static_cast<int8_t*>(edge.y) + iterator.offset[0];
    for (int32_t i = 0; i < row.extent; ++i) {
      const int32_t code = numerics::quantize_i8(x[i * row.step[1]], inverse, edge.zero_point);
      y[i] = static_cast<int8_t>(numerics::clamp(code, min, max));
    }
  } while (iterator.next());
}

Status check_stock(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::cortex_m_quantize_per_tensor;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  return check_stock_quantize_args(call, DType::kF32, DType::kI8);
}

void run_stock(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 6);
  run(edge, integer(call, 3), integer(call, 4));
}

Status check_native(const Call& call) {
  constexpr abi::PteOpInfo kOp = abi::op_info::thimble_quantize;
  constexpr Letters kLetters = letters(kOp);
  if (!integers_fit(call, kLetters)) return Status::kBadParameter;
  return check_quantize_args(call, tensor(call, 3), DType::kF32, DType::kI8);
}

void run_native(const Call& call) {
  QuantizeArgs edge = bind_quantize_args(call, 3);
  run(edge, -128, 127);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantize_per_tensor, check_stock, run_stock);
THIMBLE_DEFINE_KERNEL(portable, thimble_quantize, check_native, run_native);

}  // namespace thimble::kernels
