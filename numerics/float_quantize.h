// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quantization and dequantization of float32 numbers by integer operations on their bits. It serves
// cores without floating-point hardware, where each float operation is a library call of about a
// hundred instructions. The results are those of docs/numerics.md, "Graph edges": both roundings
// are to nearest, ties to even.

#include <cstdint>

#include "abi/freestanding.h"
#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// A scale in [2^-100, 2^100]: its 24 significant bits at the top of a word, and its exponent.
struct FloatFactor {
  uint32_t significant;
  int32_t exponent;  // biased; above 255 for a negative number

  explicit constexpr FloatFactor(float factor)
      : significant(abi::bit_cast<uint32_t>(factor) << 8 | 0x80000000U),
        exponent(static_cast<int32_t>(abi::bit_cast<uint32_t>(factor) >> 23)) {}
  constexpr bool is_valid() const { return exponent >= 27 && exponent <= 227; }
};

/// Returns x * factor rounded to the nearest integer if its magnitude is below 512; otherwise 512
/// or more, or -512 or less. NaN gives 0. The product is first rounded to float32.
constexpr int32_t round_product(uint32_t x_bits, FloatFactor factor) {
  const auto exponent = static_cast<int32_t>(x_bits >> 23 & 255);
  // Zero, or so small that the product with every valid factor is below one half.
  if (exponent == 0) return 0;
  if (exponent == 255 && (x_bits & 0x7FFFFF) != 0) return 0;
  const uint64_t product = uint64_t{x_bits << 8 | 0x80000000U} * factor.significant;
  const auto high = static_cast<uint32_t>(product >> 32);
  const uint32_t rest = static_cast<uint32_t>(product) != 0 ? 1 : 0;
  // The top 31 bits of the product; the last bit is set if any bit below it is set.
  const bool carries = high >> 31 != 0;
  const uint32_t top = (carries ? high >> 1 | (high & 1) : high) | rest;
  const uint32_t significant = (top + 63 + (top >> 7 & 1)) >> 7;  // rounded to 24 bits
  // The value is significant / 2^right.
  const int32_t right = 127 + 127 + 23 - (carries ? 1 : 0) - exponent - factor.exponent;
  uint32_t size = 512;
  if (right > 24) {
    size = 0;
  } else if (right > 14) {
    size = (significant + (1U << (right - 1)) - 1 + (significant >> right & 1)) >> right;
  }
  return x_bits >> 31 != 0 ? -static_cast<int32_t>(size) : static_cast<int32_t>(size);
}

/// Returns the bits of a float: `full` * 2^(exponent - 127 - 31). The highest bit of `full` is set;
/// `rest` is true if non-zero bits follow it.
constexpr uint32_t rounded_bits(uint32_t sign, uint32_t full, bool rest, int32_t exponent) {
  const uint32_t top = full >> 1 | (full & 1) | (rest ? 1 : 0);  // 31 bits
  const uint32_t significant = (top + 63 + (top >> 7 & 1)) >> 7;
  // A significand of 2^24 carries into the exponent.
  return sign | ((static_cast<uint32_t>(exponent) << 23) + (significant - (1U << 23)));
}

/// Returns the bits of (float)value * factor for |value| <= 255.
constexpr uint32_t scaled_bits(int32_t value, FloatFactor factor) {
  // A zero result is +0, because integers have no negative zero.
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? 0x80000000U : 0;
  const auto size = static_cast<uint32_t>(value < 0 ? -value : value);
  const uint32_t product = size * (factor.significant >> 8);  // below 2^32
  const int32_t left = count_leading_zeros(product);
  return rounded_bits(sign, product << left, false, factor.exponent + 8 - left);
}

/// Returns the bits of (float)value * factor for |value| < 2^17.
constexpr uint32_t scaled_bits_wide(int32_t value, FloatFactor factor) {
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? 0x80000000U : 0;
  const auto size = static_cast<uint32_t>(value < 0 ? -value : value);
  const uint64_t product = uint64_t{size} * factor.significant;
  const auto high = static_cast<uint32_t>(product >> 32);
  const int32_t left = high != 0 ? count_leading_zeros(high) : 32;
  const uint64_t full = product << left;
  return rounded_bits(sign, static_cast<uint32_t>(full >> 32), static_cast<uint32_t>(full) != 0,
                      factor.exponent + 32 - left);
}

}  // namespace thimble::numerics
