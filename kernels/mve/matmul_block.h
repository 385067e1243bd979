// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loops of convolutions and linear layers: three pixels and four channels at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// Arguments of multiply_pixels(), which modifies all members except the bounds. A pixel is `depth`
/// contiguous bytes; for a 1x1 convolution they are in the image. The first 16 bytes are read even
/// if the depth is less.
struct PixelBlocks {
  const int8_t* x[3];
  uint32_t depth_rest;  // depth beyond 16, or 0
  int8_t* y[3];
  int32_t y_zero_point;
  int32_t negative_rounding_correction;  // mve/requant.h: 0 or 1
  const void* quads_end;
  const void* weights;  // of the first quad
  const void* quads;    // abi::MatmulQuad
  uint32_t blocks;      // number of blocks of three pixels
  uint32_t x_step;      // from a pixel to the same pixel of the next block
  uint32_t y_step;      // from the end of the last quad of a pixel to that pixel of the next block
  int32_t min, max;
};

/// Weights are packed as in abi/matmul_mve.h.
void multiply_pixels(PixelBlocks* blocks);

/// One row of the windows of three pixels; all three have the same size.
struct WindowRow {
  const int8_t* x[3];
  uint32_t depth_vectors;
};
inline constexpr uint32_t kWindowRowsMax = 7;

/// Arguments of multiply_windows(). `depth_vectors` of the first row is one less than its size /
/// 16. After the last row, a row with `depth_vectors` 0 follows.
struct WindowBlock {
  int8_t* y[3];
  int32_t y_zero_point;
  int32_t negative_rounding_correction;
  const void* quads_end;
  const void* weights;
  const void* quads;
  int32_t min, max;
  WindowRow rows[kWindowRowsMax + 1];
};

/// As multiply_pixels(), for one block whose windows have several rows in the image.
void multiply_windows(WindowBlock* block);

}  // namespace thimble::kernels::mve

#endif
