// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_conv2d with the weights in the order of the file: blocks of three pixels, 64
// channels at a time (kernels/args/stock_convolution.h). A layer with one window is a linear layer.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/stock_convolution.h"
#include "kernels/define_kernel.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/gather.h"
#include "kernels/mve/unpacked_layer.h"
#include "kernels/mve/unpacked_rows.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

struct Loops {
  static constexpr int32_t kPixels = 3;
  static constexpr int32_t kVectorBytes = 16;
  static constexpr int32_t kChannelsMin = 4;
  using Row = mve::UnpackedRow;

  struct Layer : mve::UnpackedLayer {
    explicit Layer(const Conv& conv)
        : UnpackedLayer(conv.w, conv.out_c, static_cast<uint32_t>(window_bytes(conv)),
                        conv.x_offset, conv.requant) {}
  };
  static bool supports(const Conv& conv, int32_t) {
    return mve::shifts_supported(conv.requant, conv.out_c);
  }
  static void fill(int8_t* to, int32_t value, uint32_t bytes) { mve::fill(to, value, bytes); }
  static void gather(int8_t* to, const int8_t* from, uint32_t rows, uint32_t bytes,
                     uint32_t from_step, uint32_t to_step) {
    mve::gather(to, from, rows, bytes, from_step, to_step);
  }
};

void run(const Conv& conv) {
  if (is_linear(conv) && conv.groups == 1 && conv.out_c >= Loops::kChannelsMin &&
      mve::shifts_supported(conv.requant, conv.out_c)) {
    mve::multiply_unpacked_rows(linear_of(conv));
  } else if (!run_stock_convolution<Loops>(conv)) {
    convolve(conv);
  }
}

template <StockSignature kSignature>
void run_stock(const Call& call) {
  run(bind_stock_conv2d<kSignature>(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_conv2d, check_stock_conv2d<StockSignature::kCurrent>,
                      run_stock<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(mve, cortex_m_quantized_conv2d_nhwc,
                      check_stock_conv2d<StockSignature::kNhwc>, run_stock<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
