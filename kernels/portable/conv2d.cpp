// SPDX-License-Identifier: Apache-2.0
// conv2d: cortex_m::quantized_conv2d and thimble::conv2d; operands and memory: kernels/args/conv.h;
// formula: docs/numerics.md, "Convolution, linear". Any groups, dilation and batch.
//
// Each output pixel is computed from the taps inside the image only; taps in the padding equal the
// zero point and contribute 0. The remaining taps form a dot product per kernel row. With groups =
// 1 and no horizontal dilation, a row of taps is contiguous in the image and in the weights.

#include "abi/ops/conv.h"
#include "abi/ops/stock.h"
#include "kernels/args/conv.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/convolve.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

/// The part of the image under one window, and the same part of one filter.
struct Patch {
  const int8_t* x;  // first tap inside the image
  int32_t w;        // offset of this tap in a filter
  int32_t rows;     // number of kernel rows inside the image
  int32_t x_row, w_row;
  int32_t runs;  // number of runs of `length` bytes in a row
  int32_t x_run, w_run;
  int32_t length;
};

Patch patch_at(const Conv& conv, const int8_t* image, const Taps& ty, int32_t y_origin,
               int32_t ox) {
  const WindowAxis& across = conv.axis[1];
  const int32_t group_c = conv.in_c / conv.groups;
  const int32_t x_origin = across.origin(ox);
  const Taps tx = across.inside(x_origin);
  const int32_t y_first = y_origin + ty.first * conv.axis[0].dilation;
  const int32_t x_first = x_origin + tx.first * across.dilation;
  Patch patch;
  patch.x_row = across.in * conv.in_c * conv.axis[0].dilation;
  patch.w_row = across.kernel * group_c;
  patch.x_run = across.dilation * conv.in_c;
  patch.w_run = group_c;
  patch.rows = tx.first == tx.last ? 0 : ty.last - ty.first;
  patch.runs = tx.last - tx.first;
  patch.length = group_c;
  patch.x = image;
  patch.w = 0;
  if (patch.rows == 0) return patch;
  patch.x += (y_first * across.in + x_first) * conv.in_c;
  patch.w = (ty.first * across.kernel + tx.first) * group_c;
  if (conv.groups == 1 && across.dilation == 1) {
    patch.length *= patch.runs;
    patch.runs = 1;
  }
  return patch;
}

template <int kRows>
void channels(const Conv& conv, const Patch& patch, const int8_t* x, int32_t o, int8_t* y) {
  const int32_t filter = conv.axis[0].kernel * conv.axis[1].kernel * patch.w_run;
  const int8_t* w = conv.w + o * filter + patch.w;
  uint32_t acc[kRows];
  for (int k = 0; k < kRows; ++k) acc[k] = static_cast<uint32_t>(conv.requant.start(o + k));
  for (int32_t row = 0; row < patch.rows; ++row) {
    for (int32_t run = 0; run < patch.runs; ++run) {
      accumulate(x + row * patch.x_row + run * patch.x_run,
                 w + row * patch.w_row + run * patch.w_run, filter, patch.length, conv.x_offset,
                 acc);
    }
  }
  // A local copy, because the compiler must assume that each store to y can change the original.
  const Requant requant = conv.requant;
  for (int k = 0; k < kRows; ++k) {
    y[o + k] = requant.finish(static_cast<int32_t>(acc[k]), o + k);
  }
}

void pixel(const Conv& conv, const Patch& patch, int8_t* y) {
  const int32_t group_o = conv.out_c / conv.groups;
  const int8_t* x = patch.x;
  for (int32_t first = 0; first < conv.out_c; first += group_o) {
    const int32_t last = first + group_o;
    int32_t o = first;
    for (; o + 4 <= last; o += 4) channels<4>(conv, patch, x, o, y);
    for (; o < last; ++o) channels<1>(conv, patch, x, o, y);
    x += patch.w_run;
  }
}

}  // namespace

void convolve(const Conv& conv) {
  const int8_t* image = conv.x;
  int8_t* y = conv.y;
  for (int32_t n = 0; n < conv.batch; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      const int32_t origin = conv.axis[0].origin(oy);
      const Taps ty = conv.axis[0].inside(origin);
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        pixel(conv, patch_at(conv, image, ty, origin, ox), y);
        y += conv.out_c;
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

namespace {

template <StockSignature kSignature>
void run_stock(const Call& call) {
  convolve(bind_stock_conv2d<kSignature>(call));
}
void run_native(const Call& call) {
  convolve(bind_native_conv(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_conv2d,
                      check_stock_conv2d<StockSignature::kCurrent>,
                      run_stock<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_conv2d_13,
                      check_stock_conv2d<StockSignature::kNoScratch>,
                      run_stock<StockSignature::kNoScratch>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_conv2d_nhwc,
                      check_stock_conv2d<StockSignature::kNhwc>, run_stock<StockSignature::kNhwc>);
THIMBLE_DEFINE_KERNEL(portable, thimble_conv2d, check_native_conv2d, run_native);

}  // namespace thimble::kernels
