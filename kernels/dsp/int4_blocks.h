// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly functions of convolutions and linear layers on the DSP extension, for weights of 4 bits.
// Columns and calls are those of conv_blocks.h and linear_block.h.
//
// A word holds, for four values of the depth, the bytes 16 * b + a + 8 of two output channels
// (abi/matmul_dsp.h). SXTB16 extracts two bytes; AND extracts a + 8 from the result. The sum of
// x * (16 * b + a + 8) minus the sum of x * (a + 8) is 16 times the sum of b. The sum of x * (a +
// 8) is 8 times the sum of x too large, which does not depend on the channel: sums start with this
// offset. The loops are written for cores that issue one instruction per cycle.

#include <cstdint>

#include "kernels/dsp/conv_blocks.h"
#include "kernels/dsp/linear_block.h"

namespace thimble::kernels::dsp {

struct Int4ConvBlock : ConvBlock {
  int32_t offset[3];  // -8 times the sum of each pixel's window
};

/// Groups of four values of the depth in the unrolled loop of thimble_dsp_int4_block3().
constexpr uint32_t kInt4ConvUnrolled = 6;
/// Groups of four values that the first iteration leaves out.
inline uint32_t int4_conv_skip(uint32_t depth) {
  return kInt4ConvUnrolled - 1 - (depth / 4 - 1) % kInt4ConvUnrolled;
}

struct Int4LinearRow : LinearRow {
  int32_t offset;  // -8 times the sum of x
};
/// Groups of four values of the depth in the unrolled loop of thimble_dsp_int4_row().
constexpr uint32_t kInt4LinearUnrolled = 8;

}  // namespace thimble::kernels::dsp

extern "C" {
/// As thimble_dsp_conv_block3 and thimble_dsp_conv_block1, but the pairs of channels are
/// contiguous: y_end is y + 2 for each pair. `skip` is int4_conv_skip(depth).
const void* thimble_dsp_int4_block3(const thimble::kernels::dsp::Int4ConvBlock* block,
                                    const void* weights);
const void* thimble_dsp_int4_block1(const thimble::kernels::dsp::Int4ConvBlock* block,
                                    const void* weights);

/// As thimble_dsp_linear_row and thimble_dsp_linear_pair. `skip` is -(depth / 4) modulo
/// kInt4LinearUnrolled.
const void* thimble_dsp_int4_row(const thimble::kernels::dsp::Int4LinearRow* row,
                                 const void* weights);
void thimble_dsp_int4_pair(const thimble::kernels::dsp::Int4LinearRow* row, const void* weights);
}
