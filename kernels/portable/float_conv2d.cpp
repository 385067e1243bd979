// SPDX-License-Identifier: Apache-2.0
// thimble::conv2d.f32 over images [N, C, H, W] in logical order. Each result is the float32 sum of
// its products, channel by channel, row by row of the window, then the bias. Products of padding
// are left out. The order does not depend on the core, so that all machines compute the same bits.
//
// Two output channels and four neighbouring pixels are computed at once: six loads for eight
// products. A dscnn_kws needs 17.5 million instructions on an M4; one result at a time, 49 million.
//
// Operands: x, w [O, C / groups, kh, kw], bias?, stride, padding (top, left, bottom, right),
// dilation, groups, y.

#include "abi/ops/float.h"
#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"

namespace thimble::kernels {
namespace {

/// The window of one or four neighbouring pixels. A convolution of single pixels has one row of
/// taps, its channels.
struct Window {
  const float* x;  // tap (0, 0) of the first pixel in the first channel of the group
  const float* w;  // of the first output channel
  int32_t channels, plane;
  int32_t row, column;  // distance of two taps in x
  int32_t w_row, w_plane;
  Taps down, across;
  int32_t next_pixel;    // distance of two pixels in x
  int32_t next_weights;  // distance of two output channels in w
};

/// Sums of four pixels, or of one.
template <bool kFour>
struct Sums {
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;

  void add(const float* x, int32_t step, float weight) {
    s0 += x[0] * weight;
    if constexpr (kFour) {
      s1 += x[step] * weight;
      s2 += x[2 * step] * weight;
      s3 += x[3 * step] * weight;
    }
  }
  void store(float bias, float* y) const {
    y[0] = s0 + bias;
    if constexpr (kFour) {
      y[1] = s1 + bias;
      y[2] = s2 + bias;
      y[3] = s3 + bias;
    }
  }
};

/// Computes one or four pixels of one or two output channels. `y` is the first pixel, `second` the
/// distance to that of the second channel.
template <bool kFour, bool kTwo>
void compute(const Window& a, const float* bias, float* y, int32_t second) {
  Sums<kFour> first, other;
  const float* plane = a.x;
  const float* weights = a.w;
  for (int32_t c = 0; c < a.channels; ++c) {
    for (int32_t ky = a.down.first; ky < a.down.last; ++ky) {
      const float* x = plane + ky * a.row + a.across.first * a.column;
      const float* w = weights + ky * a.w_row + a.across.first;
      for (int32_t left = a.across.last - a.across.first; left > 0; --left) {
        first.add(x, a.next_pixel, w[0]);
        if constexpr (kTwo) other.add(x, a.next_pixel, w[a.next_weights]);
        x += a.column;
        ++w;
      }
    }
    plane += a.plane;
    weights += a.w_plane;
  }
  first.store(bias == nullptr ? 0 : bias[0], y);
  if constexpr (kTwo) other.store(bias == nullptr ? 0 : bias[1], y + second);
}

/// Computes the pixels of one row.
template <bool kTwo>
void compute_row(const FloatConv& layer, Window a, int32_t channels, const float* bias, float* y,
                 int32_t second) {
  const WindowAxis& across = layer.across;
  const float* const origin = a.x;
  for (int32_t ox = 0; ox < across.out;) {
    const int32_t left = across.origin(ox);
    const int32_t right = across.origin(ox + 3) + (across.kernel - 1) * across.dilation;
    const bool four = left >= 0 && right < across.in && ox + 4 <= across.out;
    a.across = four ? Taps{0, across.kernel} : across.inside(left);
    if (layer.of_pixels) a.across = {0, a.across.first < a.across.last ? channels : 0};
    a.x = origin + left;
    if (four) {
      compute<true, kTwo>(a, bias, y + ox, second);
      ox += 4;
    } else {
      compute<false, kTwo>(a, bias, y + ox, second);
      ++ox;
    }
  }
}

void run(const Call& call) {
  const FloatConv layer = bind_float_conv(call);
  const WindowAxis &down = layer.down, &across = layer.across;
  Window a = {};
  a.channels = layer.of_pixels ? 1 : layer.group_in;
  a.plane = layer.plane;
  a.row = down.dilation * across.in;
  a.column = layer.of_pixels ? layer.plane : across.dilation;
  a.w_row = across.kernel;
  a.w_plane = down.kernel * across.kernel;
  a.next_pixel = across.stride;
  a.next_weights = layer.next_weights();
  for (int32_t n = 0; n < layer.batch; ++n) {
    const float* const image = layer.x + n * layer.in_c * layer.plane;
    float* const out = layer.y + n * layer.out_c * layer.out_plane;
    for (int32_t o = 0; o < layer.out_c;) {
      const int32_t group = o / layer.group_out;
      const bool two = (group + 1) * layer.group_out - o >= 2;
      const float* const bias = layer.bias == nullptr ? nullptr : layer.bias + o;
      a.w = layer.w + o * a.next_weights;
      for (int32_t oy = 0; oy < down.out; ++oy) {
        const int32_t top = down.origin(oy);
        a.down = down.inside(top);
        a.x = image + group * layer.group_in * layer.plane + top * across.in;
        float* const row = out + o * layer.out_plane + oy * across.out;
        if (two) {
          compute_row<true>(layer, a, layer.group_in, bias, row, layer.out_plane);
        } else {
          compute_row<false>(layer, a, layer.group_in, bias, row, layer.out_plane);
        }
      }
      o += two ? 2 : 1;
    }
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d_f32, check_float_conv, run);

}  // namespace thimble::kernels
