// SPDX-License-Identifier: Apache-2.0
// conv2d_dsp_int4 (kernels/dsp/convolution.h).

#include "abi/ops/conv.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include <arm_acle.h>

#include "kernels/args/int4.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/convolution.h"
#include "kernels/dsp/int4_blocks.h"

namespace thimble::kernels {
namespace {

struct Loops {
  using Block = dsp::Int4ConvBlock;
  static constexpr int kPixels = 3;
  static uint32_t skip(uint32_t depth) { return dsp::int4_conv_skip(depth); }
  static uint32_t* widen(const int8_t* const (&x)[kPixels], uint32_t* columns, uint32_t bytes) {
    return thimble_dsp_widen3(x[0], x[1], x[2], columns, bytes);
  }
  static int32_t run_pixels(const Conv& /*conv*/, const Block& /*block*/, int8_t* /*y*/) {
    return 0;
  }
  /// Computes all channels of a block from its columns; the last pixels one by one.
  static void compute(const Conv& conv, Block& block, int32_t pixels, int8_t* y) {
    prepare(block);
    if (pixels == kPixels) return channels<thimble_dsp_int4_block3>(conv, block, y, kPixels);
    for (int32_t p = 0; p < pixels; ++p) {
      channels<thimble_dsp_int4_block1>(conv, block, y + p * conv.g.out_c, 1);
      next_pixel(block);
    }
  }

 private:
  template <auto kBlock>
  static void channels(const Conv& conv, Block& block, int8_t* y, int pixels) {
    const uint32_t out_c = conv.g.out_c;
    const void* weights = conv.weights;
    block.y = y;
    block.y_end = y + (out_c & ~1U);
    if (out_c > 1) weights = kBlock(&block, weights);
    if (out_c % 2 != 0) last_channel<kBlock, 2>(block, weights, y, out_c, pixels);
  }
  static void prepare(Block& block) {
    constexpr int16x2_t kOnes = 0x00010001;
    int32_t sums[kPixels] = {};
    for (const uint32_t* at = block.columns; at != block.columns_end; at += kPixels) {
      for (int p = 0; p < kPixels; ++p) {
        sums[p] = __smlad(static_cast<int16x2_t>(at[p]), kOnes, sums[p]);
      }
    }
    for (int p = 0; p < kPixels; ++p) block.offset[p] = -8 * sums[p];
  }
  static void next_pixel(Block& block) {
    ++block.columns;
    ++block.columns_end;
    block.offset[0] = block.offset[1];
    block.offset[1] = block.offset[2];
  }
};

void run(void* const* operands) {
  run_conv2d<Loops>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_conv2d_dsp_int4, check_conv2d_dsp_int4, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
