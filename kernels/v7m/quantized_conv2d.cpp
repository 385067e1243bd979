// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_conv2d without the DSP extension, with the weights in the order of the file:
// blocks of two pixels by two channels, four products for four loads, 16 channels at a time
// (kernels/args/stock_convolution.h). A layer with one window is a linear layer, which does not
// need the sums of the weights.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_V7M
#include "kernels/args/stock_convolution.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/convolve.h"

namespace thimble::kernels {
namespace {

constexpr int32_t kTileChannels = 16;

struct Row {
  const int8_t* x[2];
  uint32_t bytes;
};

// clang-format off
// One product of two pixels with two channels: 8 instructions. GCC 12 does not keep the sums and
// pointers in registers.
#define THIMBLE_UNPACKED_ONE \
  "ldrsb %[a], [%[x0]], #1\n" \
  "ldrsb %[c], [%[w0]], #1\n" \
  "ldrsb %[b], [%[x1]], #1\n" \
  "mla %[sum0], %[a], %[c], %[sum0]\n" \
  "mla %[sum1], %[b], %[c], %[sum1]\n" \
  "ldrsb %[c], [%[w1]], #1\n" \
  "mla %[sum2], %[a], %[c], %[sum2]\n" \
  "mla %[sum3], %[b], %[c], %[sum3]\n"

/// Adds the products of the rows of the windows of two pixels with two channels.
[[gnu::noinline]] void accumulate_rows(const Row* row, const int8_t* w0, const int8_t* w1,
                                       uint32_t (&acc)[4]) {
  uint32_t sum0 = acc[0], sum1 = acc[1], sum2 = acc[2], sum3 = acc[3];
  for (; row->bytes != 0; ++row) {
    const int8_t* x0 = row->x[0];
    const int8_t* x1 = row->x[1];
    const int8_t* const end = x0 + row->bytes;
    const int8_t* const fours = x0 + (row->bytes & ~3U);
    int32_t a, b, c;
    __asm__ volatile(
        "cmp %[x0], %[fours]\n"
        "beq 2f\n"
        "1:\n"
        THIMBLE_UNPACKED_ONE
        THIMBLE_UNPACKED_ONE
        THIMBLE_UNPACKED_ONE
        THIMBLE_UNPACKED_ONE
        "cmp %[x0], %[fours]\n"
        "bne 1b\n"
        "2:\n"
        : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1), [sum0] "+r"(sum0),
          [sum1] "+r"(sum1), [sum2] "+r"(sum2), [sum3] "+r"(sum3), [a] "=&r"(a), [b] "=&r"(b),
          [c] "=&r"(c)
        : [fours] "r"(fours)
        : "cc", "memory");
    while (x0 != end) {
      __asm__ volatile(THIMBLE_UNPACKED_ONE
                       : [x0] "+r"(x0), [x1] "+r"(x1), [w0] "+r"(w0), [w1] "+r"(w1),
                         [sum0] "+r"(sum0), [sum1] "+r"(sum1), [sum2] "+r"(sum2),
                         [sum3] "+r"(sum3), [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c)
                       :
                       : "memory");
    }
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}
// clang-format on

class Layer {
 public:
  explicit Layer(const Conv& conv)
      : conv_(conv), requant_(conv.requant), depth_(window_bytes(conv)) {}

  bool next_tile() {
    first_ += count_;
    if (first_ == conv_.out_c) return false;
    count_ = conv_.out_c - first_ < kTileChannels ? conv_.out_c - first_ : kTileChannels;
    if (count_ >= 2) {
      count_ &= ~1;
    } else {
      // The last channel is computed together with the one before it, a second time.
      first_ = conv_.out_c - 2;
      count_ = 2;
    }
    const int8_t* w = conv_.w + first_ * depth_;
    for (int32_t i = 0; i < count_; ++i) {
      int32_t sum = 0;
#pragma GCC unroll 4
      for (int32_t left = depth_; left != 0; --left) sum += *w++;
      bias_[i] = numerics::wrap_add(requant_.start(first_ + i), conv_.x_offset * sum);
    }
    return true;
  }

  void multiply(const Row* rows, int8_t* const (&y)[2]) const {
    const int8_t* w = conv_.w + first_ * depth_;
    for (int32_t i = 0; i < count_; i += 2, w += 2 * depth_) {
      uint32_t acc[4];
      acc[0] = acc[1] = static_cast<uint32_t>(bias_[i]);
      acc[2] = acc[3] = static_cast<uint32_t>(bias_[i + 1]);
      accumulate_rows(rows, w, w + depth_, acc);
      const int32_t o = first_ + i;
      for (int32_t k = 0; k < 4; ++k) {
        const int32_t channel = o + k / 2;
        y[k % 2][channel] = requant_.finish(static_cast<int32_t>(acc[k]), channel);
      }
    }
  }

 private:
  const Conv& conv_;
  const Requant requant_;
  const int32_t depth_;
  int32_t first_ = 0, count_ = 0;  // channels of the tile
  int32_t bias_[kTileChannels];
};

struct Loops : CopiedRows {
  static constexpr int32_t kPixels = 2;
  static constexpr int32_t kVectorBytes = 1;
  static constexpr int32_t kChannelsMin = 2;
  using Row = kernels::Row;
  using Layer = kernels::Layer;

  static bool supports(const Conv&, int32_t) { return true; }
};

template <StockSignature kSignature>
void run(const Call& call) {
  const Conv conv = bind_stock_conv2d<kSignature>(call);
  if (is_linear(conv) || !run_stock_convolution<Loops>(conv)) convolve(conv);
}

}  // namespace

THIMBLE_DEFINE_KERNEL(v7m, cortex_m_quantized_conv2d, check_stock_conv2d<StockSignature::kCurrent>,
                      run<StockSignature::kCurrent>);
THIMBLE_DEFINE_KERNEL(v7m, cortex_m_quantized_conv2d_nhwc,
                      check_stock_conv2d<StockSignature::kNhwc>, run<StockSignature::kNhwc>);

}  // namespace thimble::kernels
#endif
