// conv2d_dsp on any core: computes the packed form of abi/matmul_dsp.h pixel by pixel and pair by
// pair. It is the reference for the fast variant and runs such files on the host.

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

/// Position of the half word for depth k modulo 4.
constexpr int32_t kOrder[4] = {0, 2, 1, 3};

void add_taps(const int8_t* x, int32_t zero_point, int32_t channels, int32_t k,
              const uint8_t* weights, Pair& sums) {
  for (int32_t c = 0; c < channels; ++c, ++k) {
    const uint8_t* const half = weights + 2 * (k / 4 * 4 + kOrder[k % 4]);
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
  const int32_t code = finish_dsp(twice, word_at(scales), word_at(scales + 4), g.y_zero_point);
  return static_cast<int8_t>(numerics::clamp(code, g.min, g.max));
}

void compute_pixel(const WindowGeometry& g, const int8_t* x, int32_t top, int32_t left,
                   const uint8_t* weights, int8_t* y) {
  const int64_t depth_bytes = 2 * abi::dsp_conv_depth(g);
  for (int32_t o = 0; o < g.out_c; o += 2) {
    Pair sums = {word_at(weights), word_at(weights)};
    weights += 4;
    add_window(g, x, top, left, weights, sums);
    weights += depth_bytes;
    y[o] = clamped(g, wrap_mul(sums.a, 2), weights + 4);
    if (o + 1 < g.out_c) {
      const int32_t b = wrap_sub(sums.both, sums.a) >> 7;
      y[o + 1] = clamped(g, wrap_add(word_at(weights), b), weights + 12);
    }
    weights += 20;
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
