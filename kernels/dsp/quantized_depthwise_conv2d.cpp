// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_depthwise_conv2d with the loop of depthwise_dsp. The weights of a tile of
// channels are packed (abi/matmul_dsp.h) into the scratch of the file or, if that is smaller, onto
// the stack. The loop is called for each pixel, because the pixels of a tile are not contiguous.
// The portable body runs layers with a depth multiplier, with many taps, or with values that the
// loop does not support.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include <string.h>

#include "abi/matmul_dsp.h"
#include "kernels/args/conv.h"
#include "kernels/args/stock_window.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/clamp.h"
#include "kernels/dsp/depthwise_block.h"
#include "kernels/dsp/depthwise_taps.h"
#include "kernels/dsp/unpacked_layer.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kTapsMax = 51;       // 7x7, padded to a multiple of 3
constexpr int32_t kStackBytes = 480;   // 16 channels of nine taps
constexpr int32_t kChannelsMax = 128;  // of a tile

class StockDepthwise {
 public:
  StockDepthwise(const Conv& conv, const abi::WindowGeometry& geometry)
      : conv_(conv),
        g_(geometry),
        taps_(static_cast<int32_t>(abi::dsp_depthwise_taps(geometry))),
        tile_bytes_(48 + 8 * taps_) {
    const auto start = (reinterpret_cast<uintptr_t>(conv.scratch) + 3) & ~uintptr_t{3};
    const auto skipped = static_cast<int32_t>(start - reinterpret_cast<uintptr_t>(conv.scratch));
    const bool in_scratch = conv.scratch_bytes - skipped > kStackBytes;
    weights_ = in_scratch ? reinterpret_cast<int32_t*>(start) : stack_;
    channels_max_ = (in_scratch ? conv.scratch_bytes - skipped : kStackBytes) / tile_bytes_ * 4;
    if (channels_max_ > kChannelsMax) channels_max_ = kChannelsMax;
    memset(padding_, g_.x_zero_point, sizeof padding_);
  }

  void run() {
    for (int32_t first = 0; first < conv_.in_c;) {
      int32_t count = conv_.in_c - first;
      if (count > channels_max_) count = channels_max_;
      if (count < 4) {  // the last channels together with channels before them
        first = conv_.in_c - 4;
        count = 4;
      }
      count &= ~3;
      for (int32_t i = 0; i < count; i += 4) pack(first + i, weights_ + i / 4 * (tile_bytes_ / 4));
      run_channels(first, static_cast<uint32_t>(count));
      first += count;
    }
  }

 private:
  /// Packs four channels: pairs of int16 for channels 0 and 2, then 1 and 3.
  void pack(int32_t first, int32_t* to) const {
    const Requant& requant = conv_.requant;
    const int8_t* w = conv_.w + first;
    const int32_t kernel = g_.kernel_h * g_.kernel_w;
    auto* pairs = reinterpret_cast<uint32_t*>(to + 4);
    uint32_t even_sums = 0;
    uint32_t odd_sums = 0;
    for (int32_t tap = 0; tap < kernel; ++tap, w += conv_.in_c) {
      uint32_t word;
      memcpy(&word, w, sizeof word);
      uint32_t even;
      uint32_t odd;
      __asm__("sxtb16 %0, %1" : "=r"(even) : "r"(word));
      __asm__("sxtb16 %0, %1, ror #8" : "=r"(odd) : "r"(word));
      even_sums = add_pairs(even_sums, even);
      odd_sums = add_pairs(odd_sums, odd);
      *pairs++ = add_pairs(even, even);
      *pairs++ = add_pairs(odd, odd);
    }
    for (int32_t tap = kernel; tap < taps_; ++tap) {
      *pairs++ = 0;
      *pairs++ = 0;
    }
    auto* const scales = reinterpret_cast<int32_t*>(pairs);
    for (int32_t k = 0; k < 4; ++k) {
      const int32_t o = first + k;
      const uint32_t sums = (k & 1) != 0 ? odd_sums : even_sums;
      const int32_t sum = static_cast<int16_t>(k < 2 ? sums : sums >> 16);
      to[k] = 2 * numerics::wrap_add(requant.start(o), conv_.x_offset * sum);
      scales[k] = requant.mult[o * requant.mult_step];
      scales[4 + k] = dsp::scale_of(requant, o);
    }
  }

  static uint32_t add_pairs(uint32_t a, uint32_t b) {
    uint32_t sum;
    __asm__("sadd16 %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
  }

  void run_channels(int32_t first, uint32_t count) {
    const int32_t pixel = conv_.in_c;
    const dsp::Inner inner = dsp::inner_columns(g_);
    const int32_t down = (g_.kernel_h - 1) * g_.dilation_h;
    const int8_t* x = conv_.x + first;
    dsp::DepthwiseRun row = {list_, list_ + taps_,  conv_.y + first, 0, count, 1,
                             0,     g_.y_zero_point};
    for (int32_t n = 0; n < conv_.batch; ++n) {
      const dsp::Taps taps = {g_, x, list_, list_ + taps_, padding_};
      for (int32_t oy = 0; oy < g_.out_h; ++oy) {
        const int32_t top = oy * g_.stride_h - g_.pad_top;
        const bool whole = top >= 0 && top + down < g_.in_h;
        for (int32_t ox = 0; ox < g_.out_w; ++ox) {
          if (whole && ox > inner.first && ox < inner.last) {
            row.index += static_cast<uint32_t>(g_.stride_w * pixel);
          } else {
            taps.find(top, ox * g_.stride_w - g_.pad_left);
            row.index = 0;
          }
          thimble_dsp_depthwise_run(&row, weights_);
          row.y += pixel;
        }
      }
      x += g_.in_h * g_.in_w * pixel;
    }
  }

  const Conv& conv_;
  const abi::WindowGeometry& g_;
  const int32_t taps_, tile_bytes_;  // bytes of four channels
  int32_t* weights_;
  int32_t channels_max_;
  const int8_t* list_[kTapsMax];
  int8_t padding_[kChannelsMax];
  int32_t stack_[kStackBytes / 4];
};

/// Returns false if the loop does not support the call.
bool run_packed(const Conv& conv) {
  abi::WindowGeometry geometry = {};
  const int32_t depth = conv.axis[0].kernel * conv.axis[1].kernel;
  if (conv.out_c != conv.in_c || conv.in_c < 4 || depth > kTapsMax - 2) return false;
  if (!set_window(conv.axis, conv.in_c, conv.out_c, &geometry)) return false;
  if (!dsp::requant_supported(conv.requant, conv.out_c, depth)) return false;
  geometry.x_zero_point = static_cast<int16_t>(-conv.x_offset);
  geometry.y_zero_point = static_cast<int16_t>(conv.requant.y_offset);
  StockDepthwise(conv, geometry).run();
  const int32_t count = conv.batch * conv.axis[0].out * conv.axis[1].out * conv.out_c;
  dsp::clamp_codes(conv.y, static_cast<uint32_t>(count), conv.requant.min, conv.requant.max);
  return true;
}

template <StockSignature kSignature>
void run(const Call& call) {
  const Conv conv = bind_stock_depthwise<kSignature>(call);
  if (!run_packed(conv)) convolve_depthwise(conv);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_depthwise_conv2d,
                      check_stock_depthwise<StockSignature::kCurrent>,
                      run<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_depthwise_conv2d_nhwc,
                      check_stock_depthwise<StockSignature::kNhwc>, run<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
