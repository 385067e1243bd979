// thimble::conv2d.f32 on Helium: four neighbouring pixels of four output channels at once, or eight
// pixels of one channel, as in a depthwise convolution. Terms of padding are left out by a mask, as
// are the lanes after the end of a row.

#include "abi/ops/float.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE

#include "kernels/args/float_products.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/float_tile.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kLanes = 4;

/// The taps of one row of windows.
struct Row {
  mve::Terms terms;  // of the first row of taps, in the first channel
  int32_t channels, plane, w_plane;
  int32_t lines, x_line, w_line;  // rows of taps inside the image
  int32_t left;                   // the column of tap 0; negative inside the padding
};

/// Calls add(terms) for each row of taps, in the order of the sum.
template <class Add>
void for_each_line(const Row& row, Add add) {
  mve::Terms plane = row.terms;
  for (int32_t c = 0; c < row.channels; ++c) {
    mve::Terms line = plane;
    for (int32_t ky = 0; ky < row.lines; ++ky) {
      add(line);
      line.x += row.x_line;
      line.w += row.w_line;
    }
    plane.x += row.plane;
    plane.w += row.w_plane;
  }
}

template <class Tile>
void store(const Tile& tile, const FloatConv& layer, int32_t channel, float* y,
           mve_pred16_t lanes) {
  tile.for_each([&](int32_t vector, int32_t row, float32x4_t sums) {
    if (layer.bias != nullptr) sums = vaddq_n_f32(sums, layer.bias[channel + row]);
    vstrwq_p_f32(y + row * layer.out_plane + vector * kLanes, sums, lanes);
  });
}

template <class Tile, class Load>
void compute_whole(const FloatConv& layer, const Row& row, const Load& load, int32_t channel,
                   float* y) {
  Tile tile;
  for_each_line(row, [&](const mve::Terms& terms) { tile.add(load, terms); });
  store(tile, layer, channel, y, vctp32q(kLanes));
}

template <class Tile, class Load>
void compute_edge(const FloatConv& layer, const Row& row, const Load& load, int32_t channel,
                  float* y, int32_t pixels) {
  const WindowAxis& across = layer.across;
  const mve_pred16_t lanes = vctp32q(static_cast<uint32_t>(pixels));
  const mve::Inside inside = {mve::places_from(row.left, across.stride, lanes),
                              layer.of_pixels ? 0 : across.dilation, across.in};
  Tile tile;
  for_each_line(row, [&](const mve::Terms& terms) { tile.add_inside(load, terms, inside); });
  store(tile, layer, channel, y, lanes);
}

/// Computes the pixels of one row of the tile's channels.
template <class Tile, class Load>
void compute_row(const FloatConv& layer, Row row, const Load& load, int32_t channel, float* y) {
  const WindowAxis& across = layer.across;
  const float* const start = row.terms.x;
  const int32_t reach = (across.kernel - 1) * across.dilation;
  for (int32_t ox = 0; ox < across.out;) {
    row.left = across.origin(ox);
    row.terms.x = start + row.left;
    const auto is_whole = [&](int32_t pixels) {
      return row.left >= 0 && ox + pixels <= across.out &&
             across.origin(ox + pixels - 1) + reach < across.in;
    };
    if (Tile::kRows == 1 && is_whole(2 * kLanes)) {
      compute_whole<mve::TwoVectors>(layer, row, load, channel, y + ox);
      ox += 2 * kLanes;
    } else if (is_whole(kLanes)) {
      compute_whole<Tile>(layer, row, load, channel, y + ox);
      ox += kLanes;
    } else {
      const int32_t pixels = across.out - ox < kLanes ? across.out - ox : kLanes;
      compute_edge<Tile>(layer, row, load, channel, y + ox, pixels);
      ox += pixels;
    }
  }
}

template <class Load>
void compute(const FloatConv& layer, const Load& load) {
  const WindowAxis &down = layer.down, &across = layer.across;
  Row row = {};
  row.channels = layer.of_pixels ? 1 : layer.group_in;
  row.plane = layer.plane;
  row.w_plane = down.kernel * across.kernel;
  row.x_line = down.dilation * across.in;
  row.w_line = across.kernel;
  row.terms.x_step = layer.of_pixels ? layer.plane : across.dilation;
  row.terms.w_step = 1;
  row.terms.next_vector = kLanes * across.stride;
  row.terms.next_row = layer.next_weights();
  row.terms.count = layer.of_pixels ? layer.group_in : across.kernel;
  for (int32_t n = 0; n < layer.batch; ++n) {
    const float* const image = layer.x + n * layer.in_c * layer.plane;
    float* const out = layer.y + n * layer.out_c * layer.out_plane;
    for (int32_t o = 0; o < layer.out_c;) {
      const int32_t group = o / layer.group_out;
      const bool four = (group + 1) * layer.group_out - o >= 4;
      const float* const channels = image + group * layer.group_in * layer.plane;
      const float* const weights = layer.w + o * row.terms.next_row;
      for (int32_t oy = 0; oy < down.out; ++oy) {
        const int32_t top = down.origin(oy);
        const Taps taps = down.inside(top);
        row.lines = taps.last - taps.first;
        row.terms.x = channels + (top + taps.first * down.dilation) * across.in;
        row.terms.w = weights + taps.first * across.kernel;
        float* const y = out + o * layer.out_plane + oy * across.out;
        if (four) {
          compute_row<mve::FourRows>(layer, row, load, o, y);
        } else {
          compute_row<mve::OneRow>(layer, row, load, o, y);
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
