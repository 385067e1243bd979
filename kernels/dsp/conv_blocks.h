#pragma once
// What convolutions on the DSP extension are made of, written by hand: the loops keep six sums, six
// pairs of codes and two words of weights in registers, which no C++ gets out of GCC 12.
//
// Activations of three pixels are widened once to int16 columns in scratch, interleaved, so that
// one load instruction brings the same two codes of all three:
//
//   for each four codes (0 1 2 3) of the depth: p0 p1 p2 of codes (0, 2), then p0 p1 p2 of (1, 3)
//
// A half word of weights is 256 * b + a for two output channels a and b. Sums of x * half word and
// of x * a (SXTB16 of it) give both: b = (first - second) / 256, exact because the compiler packs
// only channels whose sums of b fit 24 bits. 17 instructions do 24 MACs.

#include <cstdint>

namespace thimble::kernels::dsp {

/// Which outputs to make of which columns.
struct ConvBlock {
  const uint32_t* columns;
  const uint32_t* columns_end;  // 6 words further for each four codes of the depth
  int8_t* y;                    // of the first pixel
  const int8_t* y_end;          // y + 2 for each pair of channels, at least one
  uint32_t out_c;               // from pixel to pixel
  int32_t zero_point;
  uint32_t skip;  // -(fours of the depth) modulo 4
};

}  // namespace thimble::kernels::dsp

extern "C" {
/// Widens `bytes` codes (a multiple of 4, at least 4) of each of three pixels and returns where the
/// columns go on.
uint32_t* thimble_dsp_widen3(const int8_t* p0, const int8_t* p1, const int8_t* p2,
                             uint32_t* columns, uint32_t bytes);

/// Copies `rows` rows of `bytes` bytes, each `step` further, to where they are side by side.
void thimble_dsp_copy_rows(const int8_t* from, int8_t* to, uint32_t bytes, uint32_t rows,
                           uint32_t step);

/// All pairs of channels of three pixels; returns where the packed weights go on.
const void* thimble_dsp_conv_block3(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);

/// Of one pixel: columns point at its word of each three, columns_end as far behind.
const void* thimble_dsp_conv_block1(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);
}
