// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gates of recurrent layers in int16: docs/numerics.md, "Recurrent layers". Freestanding.
//
// A gate is Q3.12 before its activation and Q0.15 after it. tanh is a table of 512 linear segments
// over [-8, 8). The sigmoid uses the same table: (1 + tanh(v / 2)) / 2.

#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

inline constexpr int32_t kTanhEntries = 513;  // entry i = tanh((i - 256) / 32), Q0.15
inline constexpr int32_t kGateBits = 12;      // fractional bits before an activation

constexpr int32_t saturate16(int32_t value) {
  return clamp(value, INT16_MIN, INT16_MAX);
}

/// Returns tanh of a 16-bit Q3.12 number in Q0.15.
constexpr int32_t tanh_q15(const int16_t* table, int32_t value) {
  const int32_t place = value - INT16_MIN;
  const int16_t* const entry = table + (place >> 7);
  return entry[0] + (((entry[1] - entry[0]) * (place & 127) + 64) >> 7);
}

/// Returns 1 / (1 + e^-value) in Q0.15, 0 to 32767.
constexpr int32_t sigmoid_q15(const int16_t* table, int32_t value) {
  return (32768 + tanh_q15(table, value >> 1)) >> 1;
}

/// Returns keep * old + fresh. old and the result are 16-bit numbers in units of 2^-bits; keep (at
/// most 2^15) is Q0.15 and fresh is Q0.30.
constexpr int32_t blend(int32_t keep, int32_t old, int32_t fresh, int32_t bits) {
  const int32_t down = 15 - bits;
  const int32_t aligned = (fresh >> down) + (down > 0 ? (fresh >> (down - 1)) & 1 : 0);
  return saturate16((wrap_add(wrap_mul(keep, old), aligned) + (1 << 14)) >> 15);
}

/// Converts a 16-bit number in units of 2^-bits to Q3.12.
constexpr int32_t to_gate(int32_t value, int32_t bits) {
  if (bits <= kGateBits) return saturate16(value * (1 << (kGateBits - bits)));
  const int32_t down = bits - kGateBits;
  return (value + (1 << (down - 1))) >> down;
}

}  // namespace thimble::numerics
