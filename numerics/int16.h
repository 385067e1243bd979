// SPDX-License-Identifier: Apache-2.0
#pragma once
// Arithmetic of 16-bit activations (docs/numerics.md, "16-bit activations"). Freestanding.

#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// Upper bound of |sum of products|: its product with a 15-bit multiplier fits 64 bits.
inline constexpr int64_t kRequantize64SumMax = int64_t{1} << 47;
/// Largest shift of requantize64; the smallest is kShiftMin.
inline constexpr int32_t kRequantize64ShiftMax = 14;
inline constexpr int32_t kLut16Size = 513;

/// The multiplier of requantize64(), in [0, 2^15).
constexpr int32_t reduced_multiplier(int32_t mult) {
  return mult < 0x7FFF0000 ? (mult + (1 << 15)) >> 16 : 0x7FFF;
}

/// Requantizes with single rounding and a 15-bit multiplier. |value| is below kRequantize64SumMax
/// and shift is in [kShiftMin, 14]. The result saturates to 32 bits, which does not change the
/// result of a later clamp to 16 bits.
constexpr int32_t requantize64(int64_t value, int32_t mult, int32_t shift) {
  const int32_t total = 15 - shift;
  const int64_t result = (value * reduced_multiplier(mult) + (int64_t{1} << (total - 1))) >> total;
  return result > INT32_MAX   ? INT32_MAX
         : result < INT32_MIN ? INT32_MIN
                              : static_cast<int32_t>(result);
}

/// requantize64() of a 32-bit value. For shift <= -2 it needs only the high half of one product:
/// with t = 15 - shift >= 17, floor((v m + 2^(t-1)) / 2^t) = floor((floor(v m / 2^16) + 2^(t-17)) /
/// 2^(t-16)).
constexpr int32_t requantize64_narrow(int32_t value, int32_t mult, int32_t shift) {
  if (shift > -2) return requantize64(value, mult, shift);
  const int64_t product = int64_t{value} * (reduced_multiplier(mult) * (1 << 16));
  return ((static_cast<int32_t>(product >> 32) >> (-2 - shift)) + 1) >> 1;
}

/// Quantizes a float to int16 with zero point 0 as in docs/numerics.md, "Graph edges".
/// inverse_scale = 1 / scale.
constexpr int16_t quantize_i16(float value, float inverse_scale) {
  constexpr float kLimit = 65536.0F;
  float scaled = value * inverse_scale;
  if (!(scaled == scaled)) scaled = 0;
  scaled = scaled < -kLimit ? -kLimit : scaled > kLimit ? kLimit : scaled;
  return static_cast<int16_t>(clamp(round_half_even(scaled), INT16_MIN, INT16_MAX));
}

/// Interpolates linearly between two entries of a table of kLut16Size points.
constexpr int16_t interpolate(const int16_t* table, int32_t code) {
  const int32_t at = (code >> 7) + 256;
  const int32_t rest = code & 127;
  const int32_t slope = table[at + 1] - table[at];
  return static_cast<int16_t>(clamp(table[at] + ((slope * rest + 64) >> 7), -32768, 32767));
}

}  // namespace thimble::numerics
