// SPDX-License-Identifier: Apache-2.0
// conv2d_dsp (kernels/dsp/convolution.h).

#include "abi/ops/conv.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/define_kernel.h"
#include "kernels/dsp/convolution.h"

namespace thimble::kernels {
namespace {

/// Computes the channels of blocks of `pixels` pixels pair by pair, from output channel `first` on,
/// a multiple of 4: the first pairs of all quads, then the second ones.
template <auto kBlock, class Block>
void run_pairs(const Conv& conv, Block& block, uint32_t first, int pixels, int8_t* y) {
  const uint32_t out_c = conv.g.out_c;
  const auto quad_bytes = static_cast<uint32_t>(abi::dsp_conv_quad_bytes(conv.g));
  const auto* const packed = static_cast<const uint8_t*>(conv.weights);
  for (uint32_t o = first; o <= first + 2; o += 2) {
    const uint32_t pairs = out_c < o ? 0 : (out_c - o + 2) / 4;
    if (pairs == 0) continue;
    block.y = y + o;
    block.y_end = block.y + 4 * pairs;
    kBlock(&block, packed + first / 4 * quad_bytes + 2 * (o - first));
  }
  if (out_c % 2 == 0) return;
  const uint32_t last = out_c - 1;
  last_channel<kBlock, 4>(block, packed + last / 4 * quad_bytes + 2 * (last % 4), y, out_c, pixels);
}

/// As run_pairs() for each of the first `pixels` pixels of the block.
void run_single_pixels(const Conv& conv, dsp::ConvBlock block, uint32_t first, int32_t pixels,
                       int8_t* y) {
  for (int32_t p = 0; p < pixels; ++p) {
    run_pairs<thimble_dsp_conv_block1>(conv, block, first, 1, y);
    ++block.columns;
    ++block.columns_end;
    y += conv.g.out_c;
  }
}

#if THIMBLE_HAS_DSP_M7
struct Loops {
  using Block = dsp::ConvPairs;
  static constexpr int kPixels = 3;
  static uint32_t skip(uint32_t depth) { return dsp::conv_skip(depth); }
  static uint32_t* widen(const int8_t* const (&x)[kPixels], uint32_t* columns, uint32_t bytes) {
    return thimble_dsp_widen3(x[0], x[1], x[2], columns, bytes);
  }
  static int32_t run_pixels(const Conv& /*conv*/, const Block& /*block*/, int8_t* /*y*/) {
    return 0;
  }
  static void compute(const Conv& conv, Block& block, int32_t pixels, int8_t* y) {
    if (pixels != kPixels) return run_single_pixels(conv, block, 0, pixels, y);
    if (conv.g.out_c % 4 != 0) {
      return run_pairs<thimble_dsp_conv_block3>(conv, block, 0, kPixels, y);
    }
    block.y = y;
    block.y_end = y + conv.g.out_c;
    block.second = static_cast<const uint8_t*>(conv.weights) + 4;
    thimble_dsp_conv_block3(&block, conv.weights);
  }
};
#else
struct Loops {
  using Block = dsp::ConvBlock;
  static constexpr int kPixels = 2;
  static uint32_t skip(uint32_t depth) { return dsp::conv_skip(depth); }
  static uint32_t* widen(const int8_t* const (&x)[kPixels], uint32_t* columns, uint32_t bytes) {
    return thimble_dsp_widen2(x[0], x[1], columns, bytes);
  }
  static int32_t run_pixels(const Conv& conv, const Block& block, int8_t* y) {
    const int32_t pixels = conv.g.out_h * conv.g.out_w;
    const int32_t blocks = pixels / kPixels;
    if (blocks == 0 || conv.g.out_c % 4 != 0) return 0;
    dsp::ConvPixels all = {block, conv.x, conv.g.in_c, static_cast<uint32_t>(blocks)};
    all.y = y;
    all.y_end = y + conv.g.out_c;
    thimble_dsp_conv_pixels2(&all, conv.weights);
    return kPixels * blocks;
  }
  /// With one pixel, both results of a channel are equal and have the same address.
  [[gnu::always_inline]] static void compute(const Conv& conv, Block& block, int32_t pixels,
                                             int8_t* y) {
    const uint32_t out_c = conv.g.out_c;
    const uint32_t rest = out_c % 4;
    block.y = y;
    block.y_end = y + (out_c - rest);
    block.out_c = pixels == kPixels ? out_c : 0;
    const void* weights = conv.weights;
    if (out_c >= 4) weights = thimble_dsp_conv_quads2(&block, weights);
    if (rest != 0) run_rest(conv, block, weights, pixels, y);
  }

 private:
  /// Computes the last three channels as a quad, one or two as pairs.
  [[gnu::noinline]] static void run_rest(const Conv& conv, Block& block, const void* weights,
                                         int32_t pixels, int8_t* y) {
    const uint32_t out_c = conv.g.out_c;
    const uint32_t rest = out_c % 4;
    if (rest != 3) return run_single_pixels(conv, block, out_c - rest, pixels, y);
    int8_t last[4 * kPixels];
    block.y = last;
    block.y_end = last + 4;
    block.out_c = 4;
    thimble_dsp_conv_quads2(&block, weights);
    for (int32_t p = 0; p < pixels; ++p) {
      int8_t* const to = y + static_cast<uint32_t>(p) * out_c + (out_c - rest);
      for (int o = 0; o < 3; ++o) to[o] = last[4 * p + o];
    }
  }
};
#endif

void run(void* const* operands) {
  run_conv2d<Loops>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_conv2d_dsp, check_conv2d_dsp, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
