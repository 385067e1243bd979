// SPDX-License-Identifier: Apache-2.0
// conv2d_dsp on any core: computes the packed form of abi/matmul_dsp.h pixel by pixel and pair by
// pair. A word of a pair is 8 bytes after the word before it. It is the reference for the fast
// variant and runs such files on the host.

#include "abi/ops/conv.h"
#include "abi/params/window.h"
#include "kernels/args/conv_dsp.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/packed_dsp.h"

namespace thimble::kernels {
namespace {

using abi::WindowGeometry;
using numerics::wrap_add;
using numerics::wrap_mul;
using numerics::wrap_sub;

struct Pair {
  int32_t a, both;  // sum of a, and sum of half words
};

constexpr int64_t kWordStep = 8;

void add_taps(const int8_t* x, int32_t zero_point, int32_t channels, int32_t k,
              const uint8_t* weights, Pair& sums) {
  for (int32_t c = 0; c < channels; ++c, ++k) {
    // Words hold the depths 0 and 2, and 1 and 3, of each four.
    const uint8_t* const half = weights + (k / 4 * 2 + k % 2) * kWordStep + k % 4 / 2 * 2;
    const auto both = static_cast<int16_t>(half[1] << 8 | half[0]);
    const int32_t code = x == nullptr ? zero_point : x[c];
    sums.a = wrap_add(sums.a, wrap_mul(code, static_cast<int8_t>(half[0])));
    sums.both = wrap_add(sums.both, wrap_mul(code, both));
  }
}

/// Adds all taps of the window whose first tap is at (top, left).
void add_window(const WindowGeometry& g, const int8_t* x, int32_t top, int32_t left,
                const uint8_t* weights, Pair& sums) {
  int32_t k = 0;
  for (int32_t ky = 0; ky < g.kernel_h; ++ky) {
    const int32_t row = top + ky * g.dilation_h;
    for (int32_t kx = 0; kx < g.kernel_w; ++kx, k += g.in_c) {
      const int32_t column = left + kx * g.dilation_w;
      const bool inside = row >= 0 && row < g.in_h && column >= 0 && column < g.in_w;
      const int8_t* const pixel = inside ? x + (row * g.in_w + column) * g.in_c : nullptr;
      add_taps(pixel, g.x_zero_point, g.in_c, k, weights, sums);
    }
  }
}

int8_t clamped(const WindowGeometry& g, int32_t twice, const uint8_t* scales) {
  const int32_t scale = word_at(scales + kWordStep);
  const int32_t code = finish_dsp(twice, word_at(scales), scale, g.y_zero_point);
  return static_cast<int8_t>(numerics::clamp(code, g.min, g.max));
}

void compute_pixel(const WindowGeometry& g, const int8_t* x, int32_t top, int32_t left,
                   const uint8_t* weights, int8_t* y) {
  for (int32_t o = 0; o < g.out_c; o += 2) {
    const uint8_t* const pair = weights + o / 4 * abi::dsp_conv_quad_bytes(g) + o % 4 * 2;
    Pair sums = {word_at(pair), word_at(pair)};
    add_window(g, x, top, left, pair + kWordStep, sums);
    const uint8_t* const ends = pair + (1 + abi::dsp_conv_depth(g) / 2) * kWordStep;
    y[o] = clamped(g, wrap_mul(sums.a, 2), ends + kWordStep);
    if (o + 1 < g.out_c) {
      const int32_t b = wrap_sub(sums.both, sums.a) >> 7;
      y[o + 1] = clamped(g, wrap_add(word_at(ends), b), ends + 3 * kWordStep);
    }
  }
}

void run(void* const* operands) {
  const WindowGeometry& g = window_geometry(operands[1]);
  const auto* x = static_cast<const int8_t*>(operands[0]);
  const auto* weights = static_cast<const uint8_t*>(operands[2]);
  auto* y = static_cast<int8_t*>(operands[4]);
  for (int32_t oy = 0; oy < g.out_h; ++oy) {
    for (int32_t ox = 0; ox < g.out_w; ++ox) {
      compute_pixel(g, x, oy * g.stride_h - g.pad_top, ox * g.stride_w - g.pad_left, weights, y);
      y += g.out_c;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_dsp, check_conv2d_dsp, run);

}  // namespace thimble::kernels
