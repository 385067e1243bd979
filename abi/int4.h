// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes that store two weights of 4 bits, both in [-8, 7].

#include <cstdint>

namespace thimble::abi {

/// Bits 0 to 3: the weight `low` in two's complement; bits 4 to 7: `high`.
constexpr uint8_t int4_pair(int32_t low, int32_t high) {
  return static_cast<uint8_t>((low & 15) | (high & 15) << 4);
}
constexpr int32_t int4_low(uint8_t pair) {
  return ((pair & 15) ^ 8) - 8;
}
constexpr int32_t int4_high(uint8_t pair) {
  return (pair >> 4 ^ 8) - 8;
}

/// As int4_pair(), with `low` + 8 in bits 0 to 3: the byte as an int8 is 16 * high + low + 8.
constexpr uint8_t int4_offset_pair(int32_t low, int32_t high) {
  return static_cast<uint8_t>(16 * high + low + 8);
}
constexpr int32_t int4_offset_low(uint8_t pair) {
  return (pair & 15) - 8;
}

/// Weights of gru_int4 and lstm_int4: uint8 [int4_row_pairs(rows), n]. Byte k of pair p is
/// int4_offset_pair() of the weights k of rows 2p and 2p + 1; a missing last row has weights 0. The
/// other operands are those of gru and lstm with int8 activations, but the shifts are int8.
constexpr int64_t int4_row_pairs(int64_t rows) {
  return (rows + 1) / 2;
}

}  // namespace thimble::abi
