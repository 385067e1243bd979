// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of convolutions and linear layers whose weights are not packed: three pixels and
// four channels at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

namespace thimble::kernels::mve {

/// One row of the windows of three pixels. After the last row, a row with 0 bytes follows.
struct UnpackedRow {
  const int8_t* x[3];
  uint32_t bytes;
};

/// Arguments of multiply_unpacked(), which modifies y, weights and quads. Weights are
/// [channels][depth], where depth is the sum of the rows. All rows have the same size.
struct UnpackedBlock {
  int8_t* y[3];
  int32_t y_zero_point;
  int32_t negative_rounding_correction;  // mve/requant.h: 0 or 1
  const void* quads_end;
  const int8_t* weights;  // of the first channel
  const void* quads;      // abi::MatmulQuad
  int32_t min, max;
  uint32_t depth;
  const UnpackedRow* rows;
  int32_t row_step;  // from the end of the last vector of a row to the next row: -15 to 0
};

/// Reads exactly the bytes of the rows and of the weights.
void multiply_unpacked(UnpackedBlock* block);

/// Arguments of multiply_unpacked_row(), which modifies some of them: one row and a
/// positive multiple of four channels. scale_step is 16, or 0 if mult and shift are four equal
/// values for all channels.
struct UnpackedRowBlock {
  const int8_t* x;
  const int8_t* weights;
  uint32_t depth;
  const int32_t* bias;
  const int32_t* mult;
  const int32_t* shift;
  int8_t* y;
  uint32_t scale_step;
  int32_t y_zero_point;
  int32_t negative_rounding_correction;  // mve/requant.h: 0 or 1
  int32_t min, max;
  const int8_t* y_end;
};

/// Reads exactly `depth` bytes of x and of each row of weights.
void multiply_unpacked_row(UnpackedRowBlock* block);

/// Returns the sum of `count` weights.
inline uint32_t sum_of(const int8_t* weights, uint32_t count) {
  uint32_t sum = 0;
  __asm__ volatile(
      "wlstp.8 lr, %[count], 2f\n"
      "1:\n"
      "vldrb.8 q0, [%[weights]], #16\n"
      "vaddva.s8 %[sum], q0\n"
      "letp lr, 1b\n"
      "2:\n"
      : [weights] "+r"(weights), [sum] "+Te"(sum)
      : [count] "r"(count)
      : "q0", "lr", "memory");
  return sum;
}

}  // namespace thimble::kernels::mve

#endif
