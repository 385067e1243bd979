#pragma once
// The inner loops of a linear layer on one row: eight channels at a time, what is left by fours.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// What multiply_row() works on; it changes some of it.
struct RowBlocks {
  const void* quads;  // abi::MatmulQuad
  int8_t* y;
  int32_t y_zero_point;
  int32_t halves_down;     // mve/requant.h: 0 or 1
  const void* eights_end;  // behind the last quad that has another before it in an eight
  uint32_t pair_bytes;     // from a pair of channels to the next: 2 * padded depth
  const int8_t* x;
  uint32_t sixteens;  // of the depth
  uint32_t part;      // what of it is behind them
  const void* weights;
  int32_t min, max;
  uint32_t depth;
  int32_t rest;  // channels behind the eights
};

/// abi/matmul_mve.h. Reads just the depth's bytes of x.
void multiply_row(RowBlocks* blocks);

}  // namespace thimble::kernels::mve

#endif
