#pragma once
// Quantization of float32 numbers and back, on their bits alone: for cores without floating-point
// hardware, where each operation on floats is a call of a hundred instructions. The results are
// those of docs/numerics.md, "Graph edges", with both roundings to nearest, halves to even.

#include <bit>
#include <cstdint>

#include "numerics/fixed_point.h"

namespace thimble::numerics {

/// A scale of [2^-100, 2^100]: its 24 significant bits at the top of a word, and its exponent.
struct FloatFactor {
  uint32_t significant;
  int32_t exponent;  // biased, beyond 255 for a negative number

  explicit constexpr FloatFactor(float factor)
      : significant(std::bit_cast<uint32_t>(factor) << 8 | 0x80000000U),
        exponent(static_cast<int32_t>(std::bit_cast<uint32_t>(factor) >> 23)) {}
  constexpr bool is_fine() const { return exponent >= 27 && exponent <= 227; }
};

/// x * factor as an integer to nearest, where that is below 512, else 512 or more, -512 or less;
/// NaN gives 0. The product is first rounded to float32.
constexpr int32_t round_product(uint32_t x_bits, FloatFactor factor) {
  const auto exponent = static_cast<int32_t>(x_bits >> 23 & 255);
  // Zero, or so small that no factor makes a half of it.
  if (exponent == 0) return 0;
  if (exponent == 255 && (x_bits & 0x7FFFFF) != 0) return 0;
  const uint64_t product = uint64_t{x_bits << 8 | 0x80000000U} * factor.significant;
  const auto high = static_cast<uint32_t>(product >> 32);
  const uint32_t rest = static_cast<uint32_t>(product) != 0 ? 1 : 0;
  // 31 bits of the product from its highest one, the last one set if anything follows.
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

/// Bits of a float: `full` * 2^(exponent - 127 - 31), its highest bit set, `rest` if bits follow.
constexpr uint32_t rounded_bits(uint32_t sign, uint32_t full, bool rest, int32_t exponent) {
  const uint32_t top = full >> 1 | (full & 1) | (rest ? 1 : 0);  // 31 bits
  const uint32_t significant = (top + 63 + (top >> 7 & 1)) >> 7;
  // A significand of 2^24 carries into the exponent by itself.
  return sign | ((static_cast<uint32_t>(exponent) << 23) + (significant - (1U << 23)));
}

/// Bits of (float)value * factor for |value| <= 255.
constexpr uint32_t scaled_bits(int32_t value, FloatFactor factor) {
  // An exact zero keeps the sign of its product, which is plus: codes have no minus zero.
  if (value == 0) return 0;
  const uint32_t sign = value < 0 ? 0x80000000U : 0;
  const auto size = static_cast<uint32_t>(value < 0 ? -value : value);
  const uint32_t product = size * (factor.significant >> 8);  // below 2^32
  const int32_t left = count_leading_zeros(product);
  return rounded_bits(sign, product << left, false, factor.exponent + 8 - left);
}

/// The same for |value| < 2^17.
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
