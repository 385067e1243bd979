// SPDX-License-Identifier: Apache-2.0
// depthwise_dsp on any core: computes the packed form of abi/matmul_dsp.h channel by channel. It is
// the reference for the fast variant and runs such files on the host.

#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/args/conv_dsp.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/packed_dsp.h"

namespace thimble::kernels {
namespace {

using abi::WindowGeometry;

/// Position of the half word of channel c in a group of four.
constexpr int32_t kOrder[4] = {0, 2, 1, 3};

int8_t make(const WindowGeometry& g, const int8_t* x, int32_t top, int32_t left, int32_t channel,
            const uint8_t* weights) {
  const int32_t bytes = 48 + 8 * static_cast<int32_t>(abi::dsp_depthwise_taps(g));
  const uint8_t* const four = weights + channel / 4 * bytes;
  const uint8_t* const ends = four + bytes - 32 + channel % 4 * 4;
  const uint8_t* half = four + 16 + 2 * kOrder[channel % 4];
  int32_t sum = word_at(four + channel % 4 * 4);
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
    const int32_t row = top + ky * g.dilation_h;
    for (int32_t kx = 0; kx < g.kernel_w; ++kx, half += 8) {
      const int32_t column = left + kx * g.dilation_w;
      const bool inside = row >= 0 && row < g.in_h && column >= 0 && column < g.in_w;
      const int32_t code = inside ? x[(row * g.in_w + column) * g.in_c + channel] : g.x_zero_point;
      const auto weight = static_cast<int16_t>(half[1] << 8 | half[0]);
      sum = numerics::wrap_add(sum, numerics::wrap_mul(code, weight));
    }
  }
  const int32_t code = finish_dsp(sum, word_at(ends), word_at(ends + 16), g.y_zero_point);
  return static_cast<int8_t>(numerics::clamp(code, g.min, g.max));
}

void run(void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* weights = static_cast<const uint8_t*>(operands[2]);
  auto* y = static_cast<int8_t*>(operands[4]);
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      for (int32_t c = 0; c < g.out_c; ++c) {
        *y++ = make(g, x, oy * g.stride_h - g.pad_top, ox * g.stride_w - g.pad_left, c, weights);
      }
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_depthwise_dsp, check_depthwise_dsp, run);

}  // namespace thimble::kernels
