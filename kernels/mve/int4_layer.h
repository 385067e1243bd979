// SPDX-License-Identifier: Apache-2.0
#pragma once
// MatmulLayer for weights of 4 bits (abi/matmul_mve.h, conv2d_mve_int4).

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/mve/matmul_layer.h"

namespace thimble::kernels::mve {

// The loops of matmul_block.h and matmul_row.h.
void multiply_int4_pixels(PixelBlocks* blocks);
void multiply_int4_windows(WindowBlock* block);
void multiply_int4_row(RowBlocks* blocks);

struct Int4Weights {
  static constexpr uint32_t kPairBytes = 1;
  static constexpr auto kMultiplyPixels = multiply_int4_pixels;
  static constexpr auto kMultiplyWindows = multiply_int4_windows;
  static constexpr auto kMultiplyRow = multiply_int4_row;
};
using Int4Layer = AnyMatmulLayer<Int4Weights>;

}  // namespace thimble::kernels::mve

#endif
