// conv2d_dsp (kernels/dsp/convolution.h).

#include "abi/ops/conv.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP

#include "kernels/define_kernel.h"
#include "kernels/dsp/convolution.h"

namespace thimble::kernels {
namespace {

struct Loops {
  using Block = dsp::ConvBlock;
  static constexpr auto kBlock3 = thimble_dsp_conv_block3;
  static constexpr auto kBlock1 = thimble_dsp_conv_block1;
  static uint32_t skip(uint32_t depth) { return dsp::conv_skip(depth); }
  static void prepare(Block& /*block*/) {}
  static void next_pixel(Block& block) {
    ++block.columns;
    ++block.columns_end;
  }
};

void run(void* const* operands) {
  run_conv2d<Loops>(operands);
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(dsp, thimble_conv2d_dsp, check_conv2d_dsp, run);

}  // namespace thimble::kernels

#endif  // THIMBLE_HAS_DSP
