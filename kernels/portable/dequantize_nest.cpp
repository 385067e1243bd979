// SPDX-License-Identifier: Apache-2.0
// thimble::dequantize.nest: int8 or int16 to float32, in any dim_orders, by integer operations
// (numerics/float_quantize.h); formula: docs/numerics.md, "Graph edges".
//
// Operands: x, QuantizeNest constant, y.

#include "abi/ops/conversion.h"
#include "kernels/args/quantize_nest.h"
#include "kernels/define_kernel.h"
#include "numerics/float_quantize.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::QuantizeNest& p = packed<abi::op_info::thimble_dequantize_nest>(operands[1]);
  const numerics::FloatFactor factor(p.factor);
  auto* const y = static_cast<uint32_t*>(operands[2]);
  if (p.quantized_bytes == 2) {
    dequantize_rows(
        p, static_cast<const int16_t*>(operands[0]), y,
        [factor](int32_t value, uint32_t* at) { *at = numerics::scaled_bits_wide(value, factor); });
  } else {
    dequantize_rows(
        p, static_cast<const int8_t*>(operands[0]), y,
        [factor](int32_t value, uint32_t* at) { *at = numerics::scaled_bits(value, factor); });
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_dequantize_nest, check_dequantize_nest, run);

}  // namespace thimble::kernels
