// SPDX-License-Identifier: Apache-2.0
#pragma once
// The multiply-accumulate loops of recurrent layers and of weights in groups, with weights of 4
// bits (abi/int4.h).
//
// A byte 16 * b + a + 8 has the weights of two rows. The sum of x * (16 * b + a + 8) minus the sum
// of x * (a + 8) is 16 times the sum of x * b, so that the weights of b need no extraction. The sum
// of x * (a + 8) is 8 times the sum of x too large, which all rows share. A build contains one
// implementation: dot_int4.cpp of this folder, of dsp/ or of mve/.

#include <cstdint>

namespace thimble::kernels {

/// One operand of the products: `n` codes at x, to each of which `offset` (-127 to 128) is added.
struct Int4Operand {
  const int8_t* x;
  int32_t n, offset;
  uint32_t eight_sums;  // 8 times the sum of x + offset
};
Int4Operand int4_operand(const int8_t* x, int32_t n, int32_t offset);

/// Computes the sums of products with two rows, or with four rows: the second pair of rows is n
/// bytes after the first. Sums wrap.
void multiply_int4(const Int4Operand& operand, const uint8_t* pair, uint32_t (&sums)[2]);
void multiply_int4(const Int4Operand& operand, const uint8_t* pairs, uint32_t (&sums)[4]);

/// Returns the sum of the high weights of a pair.
inline uint32_t int4_high_sum(uint32_t both, uint32_t low) {
  return static_cast<uint32_t>(static_cast<int32_t>(both - low) >> 4);
}

}  // namespace thimble::kernels
