// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fixed-point primitives with the arithmetic of docs/numerics.md. The header is freestanding and
// constexpr. No function has undefined behaviour for arguments in its stated range; accumulators
// wrap.

#include <cstdint>

namespace thimble::numerics {

constexpr int32_t clamp(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

/// Two's complement addition, subtraction and multiplication that wrap.
constexpr int32_t wrap_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
constexpr int32_t wrap_sub(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
constexpr int32_t wrap_mul(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}
/// Returns value * 2^bits, wrapping; bits is 0..31.
constexpr int32_t wrap_shl(int32_t value, int32_t bits) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << bits);
}

/// floor((a * b + 2^30) / 2^31): doubling high multiply, half up. a = b = INT32_MIN, the only
/// overflow, saturates (a positive multiplier never reaches it).
constexpr int32_t high_mult(int32_t a, int32_t b) {
  if (a == INT32_MIN && b == INT32_MIN) return INT32_MAX;
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + (int64_t{1} << 30)) >> 31);
}

/// Returns a * b / 2^32 to nearest, halves up. Armv7E-M has it as SMMULR.
constexpr int32_t rounded_high(int32_t a, int32_t b) {
  return static_cast<int32_t>((static_cast<int64_t>(a) * b + (int64_t{1} << 31)) >> 32);
}

/// Returns value / 2^bits to nearest, halves away from zero; bits is 0..31.
constexpr int32_t rounding_divide_by_pow2(int32_t value, int32_t bits) {
  const int32_t mask = static_cast<int32_t>((int64_t{1} << bits) - 1);
  const int32_t remainder = value & mask;
  const int32_t threshold = (mask >> 1) + (value < 0 ? 1 : 0);
  return (value >> bits) + (remainder > threshold ? 1 : 0);
}

inline constexpr int32_t kShiftMin = -31;
inline constexpr int32_t kShiftMax = 30;
constexpr bool shift_in_range(int32_t shift) {
  return shift >= kShiftMin && shift <= kShiftMax;
}

/// Requantizes with double rounding; shift is in [kShiftMin, kShiftMax].
constexpr int32_t requantize(int32_t value, int32_t mult, int32_t shift) {
  const int32_t left = shift > 0 ? shift : 0;
  const int32_t right = shift > 0 ? 0 : -shift;
  return rounding_divide_by_pow2(high_mult(wrap_shl(value, left), mult), right);
}

/// Requantizes with single rounding (half up); shift is in [kShiftMin, kShiftMax].
constexpr int32_t requantize_single(int32_t value, int32_t mult, int32_t shift) {
  const int32_t total = 31 - shift;  // 1..62
  const int64_t product = static_cast<int64_t>(value) * mult;
  return static_cast<int32_t>((product + (int64_t{1} << (total - 1))) >> total);
}

/// Returns the nearest integer, ties to even, for |value| <= 2^22, without libm. NaN gives 0.
constexpr int32_t round_half_even(float value) {
  if (!(value == value)) return 0;
  const float low = value < 0 ? -value : value;
  int32_t whole = static_cast<int32_t>(low);
  const float rest = low - static_cast<float>(whole);
  if (rest > 0.5F || (rest == 0.5F && (whole & 1) != 0)) ++whole;
  return value < 0 ? -whole : whole;
}

/// Quantizes a float as in docs/numerics.md, "Graph edges". inverse_scale = 1 / scale in float32.
constexpr int8_t quantize_i8(float value, float inverse_scale, int32_t zero_point) {
  constexpr float kLimit = 65536.0F;
  float scaled = value * inverse_scale;
  if (!(scaled == scaled)) scaled = 0;
  scaled = scaled < -kLimit ? -kLimit : scaled > kLimit ? kLimit : scaled;
  return static_cast<int8_t>(clamp(round_half_even(scaled) + zero_point, -128, 127));
}
constexpr float dequantize_i8(int8_t code, float scale, int32_t zero_point) {
  return static_cast<float>(code - zero_point) * scale;
}

/// Returns the number of leading zero bits; 32 for 0.
constexpr int32_t count_leading_zeros(uint32_t value) {
  return value == 0 ? 32 : __builtin_clz(value);
}

}  // namespace thimble::numerics
