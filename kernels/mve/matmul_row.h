// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loops of a linear layer with one row: eight channels at a time, then the remaining
// channels in groups of four.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// Arguments of multiply_row(), which modifies some of them.
struct RowBlocks {
  const void* quads;  // abi::MatmulQuad
  int8_t* y;
  int32_t y_zero_point;
  int32_t negative_rounding_correction;  // mve/requant.h: 0 or 1
  const void* eight_channels_end;        // end of the last group of two quads
  uint32_t pair_bytes;                   // distance between pairs of channels: 2 * padded depth
  const int8_t* x;
  const int8_t* loop_end;  // x + depth, rounded down to 16 values; minus 1 if that is less
  uint32_t depth_tail;     // depth % 16
  const void* weights;
  int32_t min, max;
  uint32_t depth;
  int32_t rest;  // channels after the groups of eight
};

/// Weights are packed as in abi/matmul_mve.h. Reads exactly `depth` bytes of x.
void multiply_row(RowBlocks* blocks);

}  // namespace thimble::kernels::mve

#endif
