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
  static constexpr auto kBlock3 = thimble_dsp_int4_block3;
  static constexpr auto kBlock1 = thimble_dsp_int4_block1;
  static uint32_t skip(uint32_t depth) { return dsp::int4_conv_skip(depth); }
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
