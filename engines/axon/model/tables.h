// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of the functions that the core computes, not the NPU. The compiler makes them in integers:
// no libm here and none on the device. engines/axon/model/curve.cpp says what they are for.

#include <stddef.h>
#include <stdint.h>

namespace thimble::axon::model {

/// Arithmetic on numbers below 2 as 1.63 fixed point, only used to build the tables.
namespace build {

/// Returns a * b / 2^63, rounded down, from four products of 32-bit halves.
constexpr uint64_t times(uint64_t a, uint64_t b) {
  const uint64_t a1 = a >> 32, a0 = a & 0xFFFFFFFF, b1 = b >> 32, b0 = b & 0xFFFFFFFF;
  const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  const uint64_t other = a0 * b1 + (middle & 0xFFFFFFFF);
  const uint64_t high = a1 * b1 + (middle >> 32) + (other >> 32);
  return high << 1 | (other >> 31 & 1);
}

inline constexpr uint64_t kOne = uint64_t{1} << 63;

/// Returns exp(-1 / divisor) by its Taylor series.
constexpr uint64_t exp_minus(uint64_t divisor) {
  uint64_t sum = kOne;
  uint64_t term = kOne;
  for (uint64_t n = 1; term != 0; ++n) {
    term /= divisor * n;
    sum = n % 2 != 0 ? sum - term : sum + term;
  }
  return sum;
}

/// Returns log2(x / y) with 40 fractional bits, for x > y, both below 2^31. Each squaring of the
/// mantissa yields one more bit.
constexpr uint64_t log2_of(uint64_t x, uint64_t y) {
  uint64_t whole = 0;
  while (x >= 2 * y) y *= 2, ++whole;
  uint64_t mantissa = kOne;  // of x / y, computed bit by bit
  uint64_t rest = x - y;
  for (uint32_t bit = 1; bit < 64; ++bit) {
    rest *= 2;
    if (rest < y) continue;
    rest -= y;
    mantissa |= kOne >> bit;
  }
  uint64_t log = whole;
  for (uint32_t bit = 0; bit < 40; ++bit) {
    log <<= 1;
    // The square is below 4 and does not fit 1.63; compute half of it.
    const uint64_t half = times(mantissa >> 1, mantissa);
    if (half >= kOne) {
      log |= 1;
      mantissa = half;
    } else {
      mantissa = half << 1;
    }
  }
  return log;
}

/// Returns ln 2 as 0.64 fixed point: the sum of 1 / (n 2^n).
constexpr uint64_t ln2() {
  uint64_t sum = 0;
  for (uint64_t n = 1; n < 64; ++n) sum += (~uint64_t{0} >> n) / n;
  return sum;
}

}  // namespace build

/// Positions of the steps. x[y - 1] is the smallest x, in 4096ths of u, for which
/// round(256 / (1 + exp(-u))) >= 128 + y, i.e. x >= 4096 ln((255 + 2 y) / (257 - 2 y)).
struct Steps {
  uint16_t x[128];
  constexpr Steps() : x() {
    for (uint32_t y = 1; y <= 128; ++y) {
      const uint64_t log = build::log2_of(255 + 2 * y, 257 - 2 * y);  // 40 fractional bits
      const uint64_t product = (log >> 12) * (build::ln2() >> 32);    // 28 + 32 = 60 of them
      const uint64_t in_4096ths = product >> 48;                      // 12 fractional bits left
      x[y - 1] = static_cast<uint16_t>(in_4096ths + 1);               // no value is an integer
    }
  }
};
inline constexpr Steps kSteps;

/// exp(-i / divisor) for i < Count, as 1.31 fixed point.
template <uint32_t Count>
struct Exponentials {
  uint32_t of[Count];
  constexpr explicit Exponentials(uint32_t divisor) : of() {
    const uint64_t factor = build::exp_minus(divisor);
    uint64_t power = build::kOne;
    for (uint32_t i = 0; i < Count; ++i) {
      of[i] = static_cast<uint32_t>((power + (uint64_t{1} << 31)) >> 32);
      power = build::times(power, factor);
    }
  }
};
inline constexpr Exponentials<16> kWholes(1);
inline constexpr Exponentials<64> kParts(64);
inline constexpr Exponentials<64> kFineParts(4096);

}  // namespace thimble::axon::model
