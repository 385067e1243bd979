// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requantization of accumulators per output channel, shared by convolutions and linear. See
// docs/numerics.md, "Requantization" and "Convolution, linear".

#include <cstdint>

#include "kernels/args/operands.h"
#include "kernels/isa.h"

namespace thimble::kernels {

/// mult and shift are int32 and int32 (stock), int32 and int8 (native), or one value for all
/// channels. Files and all supported machines are little-endian, so that a shift is always read as
/// the low byte of its entry.
struct Requant {
  const int32_t* bias = nullptr;  // null: none
  const int32_t* mult = nullptr;
  const int8_t* shift = nullptr;
  int32_t mult_step = 1;   // in words; 0: one multiplier for all channels
  int32_t shift_step = 4;  // in bytes; 0: one shift for all channels
  int32_t y_offset = 0, min = 0, max = 0;

  /// numerics::high_mult() of a multiplier that is not negative. Cores without a long
  /// multiplication compute a product of small sums in parts: kernels/v6m/scalar_requantize.h has
  /// the formula.
  static int32_t high_mult(int32_t accumulator, int32_t multiplier) {
    constexpr int32_t kSmall = 1 << 29;
    if (!THIMBLE_HAS_V6M || accumulator >= kSmall || accumulator < -kSmall) {
      return static_cast<int32_t>((int64_t{accumulator} * multiplier + (1 << 30)) >> 31);
    }
    const int32_t a_high = accumulator >> 15;
    const uint32_t a_low = static_cast<uint32_t>(accumulator) << 17 >> 16;
    const int32_t m_high = multiplier >> 16;
    const uint32_t m_low = static_cast<uint32_t>(multiplier) & 0xFFFF;
    constexpr uint32_t kStart = (uint32_t{1} << 15) - (uint32_t{1} << 30);
    const uint32_t sum = static_cast<uint32_t>(a_high) * m_low +
                         a_low * static_cast<uint32_t>(m_high) + (a_low * m_low >> 16) + kStart;
    return a_high * m_high + (static_cast<int32_t>(sum) >> 16) + (1 << 14);
  }

  /// numerics::requantize() with fewer instructions for shifts to the right. The quotient is the
  /// half of one by 2^(right - 1), so that no sum overflows.
  static int32_t scale(int32_t accumulator, int32_t multiplier, int32_t shift_left) {
    if (shift_left >= 0) return numerics::requantize(accumulator, multiplier, shift_left);
    const int32_t high = high_mult(accumulator, multiplier);
    return (((high + (high >> 31)) >> (-1 - shift_left)) + 1) >> 1;
  }
  int32_t start(int32_t channel) const { return bias == nullptr ? 0 : bias[channel]; }
  int8_t finish(int32_t accumulator, int32_t channel) const {
    const int32_t scaled =
        scale(accumulator, mult[channel * mult_step], shift[channel * shift_step]);
    return static_cast<int8_t>(numerics::clamp(numerics::wrap_add(scaled, y_offset), min, max));
  }
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

/// Checks that multipliers, shifts (whole words) and bounds are in range for `channels` channels.
/// The caller must check a single shift that is a word.
Status check_requant(const Requant& requant, int32_t channels);

/// Checks the stock form: two int32[channels] constants. check_requant() checks their values.
Status check_stock_scales(const Tensor& mult, const Tensor& shift, int32_t channels);
/// Checks an optional bias: int32 with `channels` elements.
Status check_bias(const Tensor& bias, int32_t channels);
inline const int32_t* words(const Tensor& t) {
  return t.is_null ? nullptr : static_cast<const int32_t*>(t.data);
}

/// Binds the native form: bias, mult, shift and weights follow a header of `header_bytes`. Sets the
/// first three and returns the weights. `scales` is 1 or `channels`.
const int8_t* bind_packed(const Tensor& params, uint32_t header_bytes, int32_t channels,
                          int32_t scales, Requant& requant);
/// Returns the size of that constant in bytes; the counts must be below 2^31.
int64_t packed_bytes(uint32_t header_bytes, int64_t channels, int64_t scales,
                     int64_t weights_bytes);
/// Checks that the constant has exactly `bytes` bytes, up to alignment padding at its end.
Status check_packed(const Tensor& params, int64_t bytes);

}  // namespace thimble::kernels
