// SPDX-License-Identifier: Apache-2.0
// linear_mve on any core: rows as in docs/numerics.md, "Convolution, linear". The bias includes the
// zero point of x.

#include "abi/ops/linear.h"
#include "abi/params/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/matmul_mve.h"

namespace thimble::kernels {
namespace {

void run(void* const* operands) {
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const MatmulWeights weights(operands[2], g.out_features, g.in_features);
  auto* y = static_cast<int8_t*>(operands[3]);
  for (uint32_t row = 0; row < g.rows; ++row) {
    for (uint32_t channel = 0; channel < g.out_features; ++channel) {
      *y++ = weights.code(channel, x, g.y_zero_point, g.min, g.max);
    }
    x += g.in_features;
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_mve, check_linear_mve, run);

}  // namespace thimble::kernels
