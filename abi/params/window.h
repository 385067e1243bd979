// SPDX-License-Identifier: Apache-2.0
#pragma once
// Geometry of packed convolutions and pools.

#include <cstddef>
#include <cstdint>

namespace thimble::abi {

/// Geometry of a packed convolution or pool (36 bytes), for operators that receive only the
/// addresses of their operands. It is a separate constant, so that the tiles of one layer share
/// their weights. Activations are NHWC with batch 1. In avg_pool2d_packed and max_pool2d_packed
/// (packed average and max pooling; operands x, WindowGeometry, y) dilation is 1 for
/// avg_pool2d_packed, and zero points are 0.
struct WindowGeometry {
  uint16_t in_h, in_w, in_c;
  uint16_t out_h, out_w, out_c;
  uint8_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  uint8_t pad_top, pad_left;  // bottom and right follow from the output shape
  uint16_t block_pixels;      // 0, or 2 or 4 of abi/matmul_scalar.h
  int16_t x_zero_point, y_zero_point;
  int16_t min, max;
  uint16_t reserved2[3];
};
static_assert(sizeof(WindowGeometry) == 36 && offsetof(WindowGeometry, x_zero_point) == 22);

}  // namespace thimble::abi
