// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly functions of convolutions on the DSP extension. The loops keep six or eight sums,
// activations and weights in registers; GCC 12 does not generate such loops from C++.
//
// Activations of two or three pixels are widened once to interleaved int16 columns in scratch, so
// that neighbouring words have the same two values of the depth of all pixels:
//
//   for each four values (0 1 2 3) of the depth: p0 p1 p2 of values (0, 2), then p0 p1 p2 of (1, 3)
//
// The Cortex-M7 computes three pixels by two channels. It multiplies once per cycle, whatever the
// block; its loop needs two registers of weights to load ahead. The other cores, which load in
// cycles of their own, compute two pixels by four channels: of 15 cycles for 16 products 8
// multiply, and with three pixels by two channels 6 of 12 for 12 products.
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
  const uint32_t* columns_end;  // columns + 2 words of each pixel for each four values of the depth
  int8_t* y;                    // output of the first pixel
  const int8_t* y_end;          // y + 4 for each quad of channels; at least one quad
  uint32_t out_c;               // distance between output pixels
  int32_t zero_point;
  uint32_t skip;  // conv_skip(depth)
};

/// As ConvBlock, for several blocks of pixels of a pointwise convolution.
struct ConvPixels : ConvBlock {
  const int8_t* x;
  uint32_t in_c;    // a multiple of 4
  uint32_t blocks;  // of two pixels; at least 1
};

/// As ConvBlock, for both pairs of each quad.
struct ConvPairs : ConvBlock {
  const void* second;  // weights of the second pair of the first quad, or null for one pair
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

/// As thimble_dsp_widen3, of two pixels.
uint32_t* thimble_dsp_widen2(const int8_t* p0, const int8_t* p1, uint32_t* columns, uint32_t bytes);

/// Computes all quads of channels of two pixels. Returns the end of the packed weights read.
const void* thimble_dsp_conv_quads2(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);

/// Widens the pixels of each block and computes all quads of channels of them. y is contiguous:
/// out_c is 4 for each quad.
void thimble_dsp_conv_pixels2(const thimble::kernels::dsp::ConvPixels* pixels, const void* weights);

/// Computes the first pair of channels of each quad, or both, of three pixels. `weights` is the
/// first word of the pair in the first quad.
void thimble_dsp_conv_block3(const thimble::kernels::dsp::ConvPairs* block, const void* weights);

/// Computes a pair of channels of each quad, of one pixel. columns points at the pixel's first
/// word; columns_end has the same offset.
const void* thimble_dsp_conv_block1(const thimble::kernels::dsp::ConvBlock* block,
                                    const void* weights);
}
