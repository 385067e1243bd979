// SPDX-License-Identifier: Apache-2.0
// depthwise_conv2d: cortex_m::quantized_depthwise_conv2d and thimble::depthwise_conv2d; operands
// and memory: kernels/args/conv.h; formula: docs/numerics.md, "Convolution, linear". Any depth
// multiplier, dilation and batch.
//
// Weights are [kernel_h][kernel_w][out_c], so that neighbouring channels are neighbouring bytes.
// With one output per input channel the kernel sums four channels at a time, otherwise one.

#include "abi/ops/conv.h"
#include "abi/ops/stock.h"
#include "kernels/args/conv.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

/// The taps inside the image, relative to one channel.
struct Patch {
  const int8_t* x;
  const int8_t* w;
  int32_t rows, columns;
  int32_t x_row, x_column, w_row, w_column;
  int32_t x_next, w_next;  // from the end of a row to the next row
};

/// Accumulates a window for four neighbouring channels, and one kernel row for one channel. dot.cpp
/// explains why the functions are not inlined and are unrolled by hand.
[[gnu::noinline]] void accumulate_window(const Patch& patch, int32_t channel, int32_t x_offset,
                                         uint32_t (&acc)[4]) {
  const int32_t x_step = patch.x_column;
  const int32_t w_step = patch.w_column;
  uint32_t sum0 = acc[0], sum1 = acc[1], sum2 = acc[2], sum3 = acc[3];
  const int8_t* x = patch.x + channel;
  const int8_t* w = patch.w + channel;
  for (int32_t row = patch.rows; row != 0; --row) {
    for (int32_t column = patch.columns; column != 0; --column) {
      sum0 += static_cast<uint32_t>((x[0] + x_offset) * w[0]);
      sum1 += static_cast<uint32_t>((x[1] + x_offset) * w[1]);
      sum2 += static_cast<uint32_t>((x[2] + x_offset) * w[2]);
      sum3 += static_cast<uint32_t>((x[3] + x_offset) * w[3]);
      x += x_step;
      w += w_step;
    }
    x += patch.x_next;
    w += patch.w_next;
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

[[gnu::noinline]] void accumulate(const Patch& patch, const int8_t* x, const int8_t* w,
                                  int32_t x_offset, uint32_t (&acc)[1]) {
  uint32_t sum = acc[0];
  for (int32_t column = patch.columns; column != 0; --column) {
    sum += static_cast<uint32_t>((*x + x_offset) * *w);
    x += patch.x_column;
    w += patch.w_column;
  }
  acc[0] = sum;
}

void four_channels(const Conv& conv, const Patch& patch, int32_t o, int8_t* y) {
  constexpr int kChannels = 4;
  uint32_t acc[kChannels];
  for (int k = 0; k < kChannels; ++k) acc[k] = static_cast<uint32_t>(conv.requant.start(o + k));
  accumulate_window(patch, o, conv.x_offset, acc);
  // A local copy, because the compiler must assume that each store to y can change the original.
  const Requant requant = conv.requant;
  for (int k = 0; k < kChannels; ++k) {
    y[o + k] = requant.finish(static_cast<int32_t>(acc[k]), o + k);
  }
}

void channel(const Conv& conv, const Patch& patch, int32_t i, int32_t o, int8_t* y) {
  uint32_t acc[1] = {static_cast<uint32_t>(conv.requant.start(o))};
  for (int32_t row = 0; row < patch.rows; ++row) {
    accumulate(patch, patch.x + i + row * patch.x_row, patch.w + o + row * patch.w_row,
               conv.x_offset, acc);
  }
  y[o] = conv.requant.finish(static_cast<int32_t>(acc[0]), o);
}

void pixel(const Conv& conv, const Patch& patch, int8_t* y) {
  if (conv.out_c == conv.in_c) {
    int32_t o = 0;
    for (; o + 4 <= conv.out_c; o += 4) four_channels(conv, patch, o, y);
    for (; o < conv.out_c; ++o) channel(conv, patch, o, o, y);
    return;
  }
  const int32_t multiplier = conv.out_c / conv.in_c;
  int32_t o = 0;
  for (int32_t i = 0; i < conv.in_c; ++i) {
    for (int32_t m = 0; m < multiplier; ++m) channel(conv, patch, i, o++, y);
  }
}

Patch patch_at(const Conv& conv, const int8_t* image, int32_t oy, int32_t ox) {
  const WindowAxis& down = conv.axis[0];
  const WindowAxis& across = conv.axis[1];
  const int32_t y_origin = down.origin(oy);
  const int32_t x_origin = across.origin(ox);
  const Taps ty = down.inside(y_origin);
  const Taps tx = across.inside(x_origin);
  Patch patch;
  patch.columns = tx.last - tx.first;
  patch.rows = patch.columns == 0 ? 0 : ty.last - ty.first;
  patch.x_column = across.dilation * conv.in_c;
  patch.x_row = down.dilation * across.in * conv.in_c;
  patch.w_column = conv.out_c;
  patch.w_row = across.kernel * conv.out_c;
  patch.x = image;
  patch.w = conv.w;
  patch.x_next = patch.x_row - patch.columns * patch.x_column;
  patch.w_next = patch.w_row - patch.columns * patch.w_column;
  if (patch.rows == 0) return patch;
  const int32_t y_first = y_origin + ty.first * down.dilation;
  const int32_t x_first = x_origin + tx.first * across.dilation;
  patch.x += (y_first * across.in + x_first) * conv.in_c;
  patch.w += ty.first * patch.w_row + tx.first * patch.w_column;
  return patch;
}

}  // namespace

void convolve_depthwise(const Conv& conv) {
  const int8_t* image = conv.x;
  int8_t* y = conv.y;
  for (int32_t n = 0; n < conv.batch; ++n) {
    for (int32_t oy = 0; oy < conv.axis[0].out; ++oy) {
      for (int32_t ox = 0; ox < conv.axis[1].out; ++ox) {
        pixel(conv, patch_at(conv, image, oy, ox), y);
        y += conv.out_c;
      }
    }
    image += conv.axis[0].in * conv.axis[1].in * conv.in_c;
  }
}

namespace {

template <StockSignature kSignature>
void run_stock(const Call& call) {
  convolve_depthwise(bind_stock_depthwise<kSignature>(call));
}
void run_native(const Call& call) {
  convolve_depthwise(bind_native_conv(call));
}

}  // namespace

THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_depthwise_conv2d,
                      check_stock_depthwise<StockSignature::kCurrent>,
                      run_stock<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_depthwise_conv2d_14,
                      check_stock_depthwise<StockSignature::kNoScratch>,
                      run_stock<StockSignature::kNoScratch>);
THIMBLE_DEFINE_KERNEL(portable, cortex_m_quantized_depthwise_conv2d_nhwc,
                      check_stock_depthwise<StockSignature::kNhwc>,
                      run_stock<StockSignature::kNhwc>);
THIMBLE_DEFINE_KERNEL(portable, thimble_depthwise_conv2d, check_native_depthwise, run_native);

}  // namespace thimble::kernels
