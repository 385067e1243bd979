// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_conv2d with the weights in the order of the file: blocks of two pixels, 32
// channels at a time (kernels/args/stock_convolution.h). A layer with one window is a
// linear layer, which does not need the sums of the weights.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include "kernels/args/stock_convolution.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/unpacked_layer.h"
#include "kernels/dsp/unpacked_rows.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

struct Loops : CopiedRows {
  static constexpr int32_t kPixels = 2;
  static constexpr int32_t kVectorBytes = 4;
  static constexpr int32_t kChannelsMin = 2;
  using Row = dsp::UnpackedRow;

  struct Layer : dsp::UnpackedLayer {
    explicit Layer(const Conv& conv)
        : UnpackedLayer(conv.w, conv.out_c, window_bytes(conv), conv.x_offset, conv.requant) {}
  };
  static bool supports(const Conv& conv, int32_t depth) {
    return dsp::requant_supported(conv.requant, conv.out_c, depth);
  }
};

template <StockSignature kSignature>
void run(const Call& call) {
  const Conv conv = bind_stock_conv2d<kSignature>(call);
  if (is_linear(conv) && conv.groups == 1) {
    dsp::multiply_unpacked_rows(linear_of(conv));
    return;
  }
  if (!run_stock_convolution<Loops>(conv)) {
    convolve(conv);
    return;
  }
  const int32_t count = conv.batch * conv.axis[0].out * conv.axis[1].out * conv.out_c;
  dsp::clamp_codes(conv.y, static_cast<uint32_t>(count), conv.requant.min, conv.requant.max);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_conv2d, check_stock_conv2d<StockSignature::kCurrent>,
                      run<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_conv2d_nhwc,
                      check_stock_conv2d<StockSignature::kNhwc>, run<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
