// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_linear, and convolutions with one window, with the sums of dot.cpp and the
// requantization of conv_blocks.cpp. The portable body runs layers that the requantization does not
// support.

#include "abi/ops/stock.h"
#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include "kernels/args/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/dsp/unpacked_layer.h"
#include "kernels/dsp/unpacked_rows.h"
#include "kernels/portable/convolve.h"
#include "kernels/portable/dot.h"

namespace thimble::kernels {
namespace {

int8_t code_of(const Requant& requant, uint32_t sum, int32_t channel) {
  const auto twice = static_cast<int32_t>(2 * sum);
  int32_t high;
  int32_t code;
  __asm__("smmulr %0, %1, %2"
          : "=r"(high)
          : "r"(twice), "r"(requant.mult[channel * requant.mult_step]));
  high += high >> 31;
  __asm__("smmlar %0, %1, %2, %3"
          : "=r"(code)
          : "r"(high), "r"(dsp::scale_of(requant, channel)), "r"(requant.y_offset));
  return static_cast<int8_t>(numerics::clamp(code, requant.min, requant.max));
}

template <int kChannels>
void channels(const Linear& linear, const Requant& requant, const int8_t* x, int32_t o, int8_t* y) {
  uint32_t acc[kChannels];
  for (int k = 0; k < kChannels; ++k) acc[k] = static_cast<uint32_t>(requant.start(o + k));
  accumulate(x, linear.w + o * linear.in, linear.in, linear.in, linear.x_offset, acc);
  for (int k = 0; k < kChannels; ++k) y[o + k] = code_of(requant, acc[k], o + k);
}

void run(const Call& call) {
  dsp::multiply_unpacked_rows(bind_stock_linear(call));
}

}  // namespace

void dsp::multiply_unpacked_rows(const Linear& linear) {
  if (!requant_supported(linear.requant, linear.out, linear.in)) {
    multiply_rows(linear);
    return;
  }
  const Requant requant = linear.requant;
  for (int32_t row = 0; row < linear.rows; ++row) {
    const int8_t* x = linear.x + row * linear.in;
    int8_t* y = linear.y + row * linear.out;
    int32_t o = 0;
    for (; o + 4 <= linear.out; o += 4) channels<4>(linear, requant, x, o, y);
    for (; o < linear.out; ++o) channels<1>(linear, requant, x, o, y);
  }
}

THIMBLE_DEFINE_KERNEL(dsp, cortex_m_quantized_linear, check_stock_linear, run);

}  // namespace thimble::kernels
#endif
