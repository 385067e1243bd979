#pragma once
// The inner loops of convolutions and linear layers: three pixels by four channels at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// What multiply_pixels() works on; it changes all but the bounds. A pixel is the depth's bytes in
/// one piece: of a 1x1 convolution those in the image. The first 16 are read even if depth is less.
struct PixelBlocks {
  const int8_t* x[3];
  uint32_t depth_rest;  // depth beyond 16, or 0
  int8_t* y[3];
  int32_t y_zero_point;
  int32_t halves_down;  // mve/requant.h: 0 or 1
  const void* quads_end;
  const void* weights;  // of the first quad
  const void* quads;    // abi::MatmulQuad
  uint32_t blocks;      // of three pixels
  uint32_t x_step;      // from a pixel to the one of the next block
  uint32_t y_step;      // from behind the last quad of a pixel to the one of the next block
  int32_t min, max;
};

/// abi/matmul_mve.h.
void multiply_pixels(PixelBlocks* blocks);

/// One row of the windows of three pixels, as many bytes each.
struct WindowRow {
  const int8_t* x[3];
  uint32_t sixteens;
};
inline constexpr uint32_t kWindowRowsMax = 7;

/// What multiply_windows() works on. Of the first row `sixteens` is one less than it is; behind the
/// last one is a row of 0.
struct WindowBlock {
  int8_t* y[3];
  int32_t y_zero_point;
  int32_t halves_down;
  const void* quads_end;
  const void* weights;
  const void* quads;
  int32_t min, max;
  WindowRow rows[kWindowRowsMax + 1];
};

/// As multiply_pixels(), one block, where a window is several rows in the image.
void multiply_windows(WindowBlock* block);

}  // namespace thimble::kernels::mve

#endif
