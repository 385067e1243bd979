// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts that all 2-D pools of 16-bit activations share. Memory: x and y NHWC.

#include <cstdint>

#include "abi/params/pool.h"
#include "kernels/args/requant16.h"
#include "kernels/args/window.h"

namespace thimble::kernels {

struct Pool16 {
  const int16_t* x;
  int16_t* y;
  int32_t batch, c;
  WindowAxis axis[2];
};

/// Checks the lengths of the lists, and that the images have the same batch and channel counts.
Status check_images16(const Tensor& x, const Tensor& y, const abi::PoolWindow& window);
/// Checks that extents are in range and every window overlaps the image. Requires
/// check_images16().
Status check_pool16(const Pool16& pool);
/// Binds a pool without dilation.
Pool16 bind_pool16(const Tensor& x, const Tensor& y, const abi::PoolWindow& window);

/// Calls pixel(first tap inside the image, tap rows, tap columns, y) for every output position.
template <class Pixel>
void for_each_pixel(const Pool16& pool, Pixel pixel) {
  const WindowAxis& down = pool.axis[0];
  const WindowAxis& across = pool.axis[1];
  const int16_t* image = pool.x;
  int16_t* y = pool.y;
  for (int32_t n = 0; n < pool.batch; ++n) {
    for (int32_t oy = 0; oy < down.out; ++oy) {
      const int32_t row = down.origin(oy);
      const Taps rows = down.inside(row);
      for (int32_t ox = 0; ox < across.out; ++ox) {
        const int32_t column = across.origin(ox);
        const Taps columns = across.inside(column);
        const int32_t top = row + rows.first * down.dilation;
        const int32_t left = column + columns.first * across.dilation;
        pixel(image + (top * across.in + left) * pool.c, rows.last - rows.first,
              columns.last - columns.first, y);
        y += pool.c;
      }
    }
    image += down.in * across.in * pool.c;
  }
}

}  // namespace thimble::kernels
