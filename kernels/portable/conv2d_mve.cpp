// SPDX-License-Identifier: Apache-2.0
// conv2d_mve on any core: a convolution of one image as in docs/numerics.md, "Convolution, linear".
// The bias includes the zero point of x, so padding has the value of the zero point.

#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/matmul_mve.h"

namespace thimble::kernels {
namespace {

/// Copies the window of one pixel, because y may overlap the data that is read.
void gather(const abi::WindowGeometry& g, const int8_t* x, int32_t top, int32_t left,
            int8_t* window) {
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
    for (int32_t kx = 0; kx < g.kernel_w; ++kx) {
      const int32_t row = top + ky * g.dilation_h;
      const int32_t column = left + kx * g.dilation_w;
      const bool inside = row >= 0 && row < g.in_h && column >= 0 && column < g.in_w;
      for (int32_t c = 0; c < g.in_c; ++c) {
        const int32_t zero = g.x_zero_point;
        *window++ = static_cast<int8_t>(inside ? x[(row * g.in_w + column) * g.in_c + c] : zero);
      }
    }
  }
}

void run(void* const* operands) {
  const auto* const x = static_cast<const int8_t*>(operands[0]);
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  const uint32_t depth = window_depth(g);
  const MatmulWeights weights(operands[2], g.out_c, depth);
  auto* const window = static_cast<int8_t*>(operands[3]);
  auto* y = static_cast<int8_t*>(operands[4]);
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      gather(g, x, oy * g.stride_h - g.pad_top, ox * g.stride_w - g.pad_left, window);
      for (uint32_t channel = 0; channel < g.out_c; ++channel) {
        *y++ = weights.code(channel, window, g.y_zero_point, g.min, g.max);
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_mve, check_conv2d_mve, run);

}  // namespace thimble::kernels
