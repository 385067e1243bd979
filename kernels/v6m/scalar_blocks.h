// SPDX-License-Identifier: Apache-2.0
#pragma once
// Linear layers with blocks of four outputs for cores with 16-bit Thumb (abi/matmul_scalar.h).

#include "kernels/args/conv_scalar.h"

namespace thimble::kernels {

/// Dot products of one row of x, requantized to int8. The assembly uses the offsets of the members
/// and modifies them. length and count are multiples of 4.
struct ScalarBlocks {
  const int8_t* x;  // word-aligned
  uint32_t length;  // number of products
  const int8_t* w;
  const abi::ScalarChannel* channels;
  int8_t* y;
  uint32_t count;   // number of channels
  uint32_t excess;  // is subtracted from each sum
};

extern "C" void thimble_v6m_dot_blocks(ScalarBlocks* blocks);

}  // namespace thimble::kernels
