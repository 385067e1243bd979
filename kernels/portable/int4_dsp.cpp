// SPDX-License-Identifier: Apache-2.0
// conv2d_dsp_int4 and linear_dsp_int4 on any core (abi/matmul_dsp.h).

#include "abi/matmul_dsp.h"
#include "abi/ops/conv.h"
#include "abi/ops/linear.h"
#include "kernels/define_kernel.h"
#include "kernels/portable/int4.h"
#include "kernels/portable/packed_dsp.h"

namespace thimble::kernels {
namespace {

/// Addresses of the constants of a pair of channels.
struct Pair {
  const uint8_t* bias;
  const uint8_t* bytes;
  uint32_t four;        // distance between groups of four bytes
  const uint8_t* ends;  // the five words at the end of a pair
};

/// `pair_at` is the only difference between both operators.
template <Pair (*pair_at)(const uint8_t* packed, uint32_t channels, uint32_t depth, uint32_t o)>
struct DspWeights {
  const void* packed;
  uint32_t channels, depth;
  int32_t y_zero_point, min, max;

  int8_t* codes(const int8_t* x, int8_t* y) const { return each_code(*this, x, y); }
  /// Sums wrap.
  int8_t code(uint32_t channel, const int8_t* x) const {
    const Pair pair =
        pair_at(static_cast<const uint8_t*>(packed), channels, depth, channel / 2 * 2);
    uint32_t a = 0;
    uint32_t b = 0;
    for (uint32_t k = 0; k < depth; ++k) {
      const uint8_t byte = pair.bytes[k / 4 * pair.four + k % 4];
      a += static_cast<uint32_t>(x[k] * abi::int4_offset_low(byte));
      b += static_cast<uint32_t>(x[k] * abi::int4_high(byte));
    }
    const bool second = channel % 2 != 0;
    const uint8_t* const scale = pair.ends + (second ? 12 : 4);
    const int32_t sixteen = static_cast<int32_t>(16 * b);
    const int32_t twice =
        second ? numerics::wrap_add(word_at(pair.ends), sixteen >> 3)
               : static_cast<int32_t>(2 * (a + static_cast<uint32_t>(word_at(pair.bias))));
    const int32_t result = finish_dsp(twice, word_at(scale), word_at(scale + 4), y_zero_point);
    return static_cast<int8_t>(numerics::clamp(result, min, max));
  }
};

Pair conv_pair(const uint8_t* packed, uint32_t /*channels*/, uint32_t depth, uint32_t o) {
  const uint32_t bytes = (depth + 3) / 4 * 4;
  const uint8_t* const at = packed + o / 2 * (24 + bytes);
  return {at, at + 4, 4, at + 4 + bytes};
}

Pair linear_pair(const uint8_t* packed, uint32_t channels, uint32_t depth, uint32_t o) {
  const uint32_t bytes = 48 + 2 * depth;
  const uint8_t* const at = packed + o / 4 * bytes;
  if (channels - o / 4 * 4 < 3) return {at, at + 4, 4, at + 4 + depth};
  const uint32_t second = o % 4 / 2;
  return {at + 4 * second, at + 8 + 4 * second, 8, at + bytes - 40 + 20 * second};
}

}  // namespace

THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_conv2d_dsp_int4, check_conv2d_dsp_int4,
                           run_conv2d_int4<DspWeights<conv_pair>>);
THIMBLE_DEFINE_BARE_KERNEL(portable, thimble_linear_dsp_int4, check_linear_dsp_int4,
                           run_linear_int4<DspWeights<linear_pair>>);

}  // namespace thimble::kernels
