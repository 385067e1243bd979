// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requantization of sums (docs/numerics.md, "Requantization").

#include <stdint.h>
#include <string.h>

#include "engines/neutron/container/program.h"

namespace thimble::neutron::model {

/// Adds with two's complement wrap-around, as docs/neutron.md defines sums.
constexpr int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

constexpr int32_t wrapping_shift(int32_t value, int32_t left) {
  return static_cast<int32_t>(static_cast<uint32_t>(value) << left);
}

/// Returns value / 2^shift, rounded to nearest, halves away from zero; 0 <= shift <= 31.
constexpr int32_t divide_half_away(int32_t value, int32_t shift) {
  if (shift == 0) return value;
  const uint32_t magnitude =
      value < 0 ? uint32_t{0} - static_cast<uint32_t>(value) : static_cast<uint32_t>(value);
  const auto quotient = static_cast<int32_t>((magnitude + (uint32_t{1} << (shift - 1))) >> shift);
  return value < 0 ? -quotient : quotient;
}

/// Returns a * b / 2^31, rounded to nearest, halves up.
constexpr int32_t multiply_high(int32_t a, int32_t b) {
  return static_cast<int32_t>((int64_t{a} * b + (int64_t{1} << 30)) >> 31);
}

/// The number multiplier * 2^(shift - 31), with multiplier >= 0 and -31 <= shift <= 30.
struct Multiplier {
  int32_t multiplier;
  int32_t shift;
};

constexpr int32_t scaled(int32_t value, Multiplier factor, bool single) {
  if (single) {
    const int32_t right = 31 - factor.shift;
    const int64_t product = int64_t{value} * factor.multiplier;
    return static_cast<int32_t>((product + (int64_t{1} << (right - 1))) >> right);
  }
  const int32_t left = factor.shift > 0 ? factor.shift : 0;
  const int32_t high = multiply_high(wrapping_shift(value, left), factor.multiplier);
  return divide_half_away(high, left - factor.shift);
}

inline int32_t int_at(const uint8_t* bytes, uint32_t index) {
  int32_t value;
  memcpy(&value, bytes + 4 * index, sizeof value);
  return value;
}

}  // namespace thimble::neutron::model
