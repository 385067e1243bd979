#pragma once
// The inner loops of a linear layer on one row: eight channels at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// What multiply_row() works on; it changes some of it.
struct RowBlocks {
  const void* quads;  // abi::MatmulQuad
  int8_t* y;
  int32_t y_zero_point;
  int32_t halves_down;    // mve/requant.h: 0 or 1
  const void* quads_end;  // an even number of quads
  uint32_t pair_bytes;    // from a pair of channels to the next: 2 * padded depth
  const int8_t* x;
  uint32_t whole;  // groups of 16 in the depth
  uint32_t part;   // what of the depth is behind them
  const void* weights;
  int32_t min, max;
};

/// abi/matmul_mve.h. Reads just the depth's bytes of x.
void multiply_row(RowBlocks* blocks);

}  // namespace thimble::kernels::mve

#endif
