// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of products of two activations whose depth is innermost: three rows of a and four
// rows of b at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// Arguments of multiply_products(), which modifies b, y and starts. A result is
/// sum a b + the start of its column + the start of its row, requantized.
struct ProductBlock {
  const int8_t* a[3];
  uint32_t depth;
  const int8_t* b;  // of the first column; rows of b are contiguous
  int8_t* y[3];
  int32_t row_start[3];
  const int32_t* starts;  // of each column
  const int32_t* starts_end;
  int32_t left, mult, right, y_zero_point;  // left >= 0, right <= 0
  int32_t correction;                       // 1 if right < 0: negative halves are rounded down
  int32_t min, max;
};

/// Computes a positive multiple of four columns. Reads exactly `depth` bytes of each row.
void multiply_products(ProductBlock* block);

}  // namespace thimble::kernels::mve

#endif
