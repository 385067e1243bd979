// SPDX-License-Identifier: Apache-2.0
// thimble::conv2d.f32 on Helium: four neighbouring pixels of four output channels at once, or eight
// pixels of one channel, as in a depthwise convolution. Terms of padding are left out by a mask, as
// are the lanes after the end of a row. The convolutions of a resnet8 need 17.2 million
// instructions on an M55, with the portable kernel 58.4 million.

#include "abi/ops/float.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/float_tile.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = 4;

template <class Tile>
void store(const Tile& tile, const FloatConv& layer, int32_t channel, float* y,
           mve_pred16_t lanes) {
  tile.for_each([&](int32_t vector, int32_t row, float32x4_t sums) {
    if (layer.bias != nullptr) sums = vaddq_n_f32(sums, layer.bias[channel + row]);
    vstrwq_p_f32(y + row * layer.out_plane + vector * kLanes, sums, lanes);
  });
}

/// Computes the pixels of one row of the tile's channels. `terms` are those of a window whose first
/// tap is at column 0.
template <class Tile, class Load>
void compute_row(const FloatConv& layer, mve::Terms terms, const Load& load, int32_t channel,
                 float* y) {
  const WindowAxis& across = layer.across;
  const float* const start = terms.x;
  const int32_t reach = (across.kernel - 1) * across.dilation;
  for (int32_t ox = 0; ox < across.out;) {
    const int32_t left = across.origin(ox);  // the column of tap 0; negative inside the padding
    terms.x = start + left;
    const auto is_whole = [&](int32_t pixels) {
      return left >= 0 && ox + pixels <= across.out &&
             across.origin(ox + pixels - 1) + reach < across.in;
    };
    if (Tile::kRows == 1 && is_whole(2 * kLanes)) {
      mve::TwoVectors tile;
      tile.add(load, terms);
      store(tile, layer, channel, y + ox, vctp32q(kLanes));
      ox += 2 * kLanes;
      continue;
    }
    Tile tile;
    const int32_t pixels = across.out - ox < kLanes ? across.out - ox : kLanes;
    const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(pixels));
    if (is_whole(kLanes)) {
      tile.add(load, terms);
    } else {
      tile.add_inside(load, terms,
                      {mve::places_from(left, across.stride, lanes),
                       layer.of_pixels ? 0 : across.dilation, across.in});
    }
    store(tile, layer, channel, y + ox, lanes);
    ox += pixels;
  }
}

template <class Load>
void compute(const FloatConv& layer, const Load& load) {
  const WindowAxis &down = layer.down, &across = layer.across;
  mve::Terms terms = {};
  terms.next_vector = kLanes * across.stride;
  terms.next_row = layer.next_weights();
  terms.taps = layer.of_pixels ? layer.group_in : across.kernel;
  terms.tap_step = layer.of_pixels ? layer.plane : across.dilation;
  terms.line_step = down.dilation * across.in;
  terms.channels = layer.of_pixels ? 1 : layer.group_in;
  terms.channel_step = layer.plane;
  terms.w_channel_step = down.kernel * across.kernel;
  for (int32_t n = 0; n < layer.batch; ++n) {
    const float* const image = layer.x + n * layer.in_c * layer.plane;
    float* const out = layer.y + n * layer.out_c * layer.out_plane;
    for (int32_t o = 0; o < layer.out_c;) {
      const int32_t group = o / layer.group_out;
      const bool four = (group + 1) * layer.group_out - o >= 4;
      const float* const channels = image + group * layer.group_in * layer.plane;
      const float* const weights = layer.w + o * terms.next_row;
      for (int32_t oy = 0; oy < down.out; ++oy) {
        const int32_t top = down.origin(oy);
        const Taps taps = down.inside(top);
        terms.lines = taps.last - taps.first;
        terms.x = channels + (top + taps.first * down.dilation) * across.in;
        terms.w = weights + taps.first * across.kernel;
        float* const y = out + o * layer.out_plane + oy * across.out;
        if (four) {
          compute_row<mve::FourRows>(layer, terms, load, o, y);
        } else {
          compute_row<mve::OneRow>(layer, terms, load, o, y);
        }
      }
      o += four ? 4 : 1;
    }
  }
}

void run(const Call& call) {
  const FloatConv layer = bind_float_conv(call);
  if (layer.across.stride == 1) {
    compute(layer, mve::NextLoad{});
  } else {
    compute(layer, mve::StrideLoad(layer.across.stride));
  }
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, thimble_conv2d_f32, check_float_conv, run);

}  // namespace thimble::kernels

#endif
