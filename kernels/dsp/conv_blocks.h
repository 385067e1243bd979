#pragma once
// Assembly functions of convolutions on the DSP extension. The loops keep six sums, six pairs of
// activations and two words of weights in registers; GCC 12 does not generate such loops from C++.
//
// Activations of three pixels are widened once to interleaved int16 columns in scratch, so that one
// load instruction reads the same two values of all three pixels:
//
//   for each four values (0 1 2 3) of the depth: p0 p1 p2 of values (0, 2), then p0 p1 p2 of (1, 3)
//
// A half word of weights is 256 * b + a for two output channels a and b. The sum of x * half word
// and the sum of x * a (a is extracted by SXTB16) give both results: b = (first - second) / 256.
// This is exact because the compiler packs only channels whose sums of b fit 24 bits.

#include <cstdint>

#include "kernels/dsp/dual_issue.h"

namespace thimble::kernels::dsp {

/// Groups of four values of the depth in the unrolled loop of thimble_dsp_conv_block3().
constexpr uint32_t kConvUnrolled = THIMBLE_HAS_DSP_M7 ? 4 : 6;

/// Input columns and outputs of one call.
struct ConvBlock {
  const uint32_t* columns;
  const uint32_t* columns_end;  // columns + 6 words for each four values of the depth
  int8_t* y;                    // output of the first pixel
  const int8_t* y_end;          // y + 2 for each pair of channels; at least one pair
  uint32_t out_c;               // distance between output pixels
  int32_t zero_point;
  uint32_t skip;  // conv_skip(depth)
};

/// Groups of four values that the first iteration of the loop leaves out.
inline uint32_t conv_skip(uint32_t depth) {
  return kConvUnrolled - 1 - (depth / 4 - 1) % kConvUnrolled;
}

}  // namespace thimble::kernels::dsp

extern "C" {
/// Widens `bytes` int8 values (a multiple of 4, at least 4) of each of three pixels. Returns the
/// end of the written columns.
uint32_t* thimble_dsp_widen3(const int8_t* p0, const int8_t* p1, const int8_t* p2,
                             uint32_t* columns, uint32_t bytes);

/// Copies `rows` rows of `bytes` bytes, `step` bytes apart, to contiguous memory.
void thimble_dsp_copy_rows(const int8_t* from, int8_t* to, uint32_t bytes, uint32_t rows,
                           uint32_t step);

/// Computes all pairs of channels of three pixels. Returns the end of the packed weights read.
const void* thimble_dsp_conv_block3(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);

/// Computes one pixel. columns points at the pixel's first word; columns_end has the same offset.
const void* thimble_dsp_conv_block1(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);
}
