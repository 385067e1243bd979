// SPDX-License-Identifier: Apache-2.0
#include "abi/ops/linear.h"
#include "kernels/isa.h"
#if THIMBLE_HAS_V6M
// linear_scalar: rows are read in place; scalar_dot.cpp and, for blocks of four outputs,
// scalar_blocks.cpp compute the products.

#include "kernels/define_kernel.h"
#include "kernels/v6m/scalar_blocks.h"
#include "kernels/v6m/scalar_dot.h"

namespace thimble::kernels {
namespace {

/// Returns 128 * (x0 - x1 + x2) of all fours, for values x + 128 (abi/matmul_scalar.h).
uint32_t excess(const int8_t* x, uint32_t count) {
  int32_t sum = 0;
  for (uint32_t k = 0; k < count; k += 4) sum += x[k] - x[k + 1] + x[k + 2] + 128;
  return static_cast<uint32_t>(sum) << 7;
}

void run_blocks(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[3]);
  const bool aligned = (reinterpret_cast<uintptr_t>(x) & 3) == 0;
  for (uint32_t r = 0; r < g.rows; ++r, x += g.in_features, y += g.out_features) {
    if (!aligned) {
      for (uint32_t o = 0; o < g.out_features; ++o) {
        y[o] = scalar_block_result(g, operands[2], o, x);
      }
      continue;
    }
    ScalarBlocks blocks = {x,
                           g.in_features,
                           scalar_weights(operands[2], g.out_features),
                           scalar_channels(operands[2]),
                           y,
                           g.out_features,
                           excess(x, g.in_features)};
    thimble_v6m_dot_blocks(&blocks);
    clamp_results(y, g.out_features, g.min, g.max);
  }
}

void run(void* const* operands) {
  if (has_blocks(operands[2])) {
    run_blocks(operands);
  } else {
    run_linear_scalar(kV6mRows, operands);
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(v6m, thimble_linear_scalar, check_linear_scalar, run);

}  // namespace thimble::kernels
#endif
