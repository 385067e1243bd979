// SPDX-License-Identifier: Apache-2.0
// thimble::quantize.nest: float32 to int8, in any dim_orders, by integer operations
// (numerics/float_quantize.h); formula: docs/numerics.md, "Graph edges".
//
// Operands: x, QuantizeNest constant, y.

#include "kernels/args/quantize_nest.h"
#include "abi/ops/conversion.h"
#include "kernels/define_kernel.h"
#include "numerics/float_quantize.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const abi::QuantizeNest& p = packed<abi::op_info::thimble_quantize_nest>(operands[1]);
  const numerics::FloatFactor factor(p.factor);
  quantize_rows(operands, [&](const uint32_t* x) {
    return numerics::clamp(numerics::round_product(*x, factor) + p.zero_point, -128, 127);
  });
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_quantize_nest, check_quantize_nest, run);

}  // namespace thimble::kernels
