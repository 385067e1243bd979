// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed pools: the window of each result as a rectangle of pixels, in result order.

#include <cstdint>

#include "abi/params/window.h"
#include "kernels/args/packed.h"

namespace thimble::kernels {

/// Checks the operands of avg_pool2d_packed and max_pool2d_packed: x, WindowGeometry, y.
Status check_window_pool(const Call& call);

struct TapRange {
  int32_t first, count;  // taps inside the image; check_window_pool() ensures at least one
};

inline TapRange taps_inside(int32_t at, int32_t kernel, int32_t stride, int32_t pad, int32_t in) {
  const int32_t origin = at * stride - pad;
  const int32_t first = origin < 0 ? 0 : origin;
  const int32_t end = origin + kernel < in ? origin + kernel : in;
  return {first, end - first};
}

/// A rectangle of one image: its first element, its rows and columns, and their distances in bytes.
struct Window {
  const int8_t* x;
  uint32_t rows, columns, row_step, column_step;
};

/// Calls pixel(geometry, window, y) for each pixel of the result.
template <class Pixel>
void for_each_window(void* const* operands, Pixel pixel) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const auto* const x = static_cast<const int8_t*>(operands[0]);
  auto* y = static_cast<int8_t*>(operands[2]);
  const int32_t row_step = g.in_w * g.in_c;
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    const TapRange down = taps_inside(oy, g.kernel_h, g.stride_h, g.pad_top, g.in_h);
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      const TapRange across = taps_inside(ox, g.kernel_w, g.stride_w, g.pad_left, g.in_w);
      const Window window = {x + down.first * row_step + across.first * g.in_c,
                             static_cast<uint32_t>(down.count), static_cast<uint32_t>(across.count),
                             static_cast<uint32_t>(row_step), g.in_c};
      pixel(g, window, y);
      y += g.in_c;
    }
  }
}

}  // namespace thimble::kernels
