// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops of depthwise_mve in assembly. They compute neighbouring output pixels of one row, in
// blocks of 16 lanes. In each lane the products of two taps are added in 16 bits, then widened to
// 32 bits.

#include <cstdint>

namespace thimble::kernels {

/// Neighbouring pixels, with the addresses of the taps of the first pixel.
struct DepthwiseSegment {
  uint32_t pixels;  // at least 1
  const int8_t* x[9];
};

/// The assembly depends on the order of the members. After a call, x and y are those of the next
/// pixel.
struct DepthwiseRun {
  const int8_t* x[9];  // nine taps: written by the call; any taps: [0], base of `offsets`
  int8_t* y;
  const uint8_t* blocks;
  uint32_t lanes;     // channels of a pixel, a multiple of 4
  int32_t y_step;     // from the end of the last whole block of a pixel to the next pixel
  int32_t x_moves;    // not 0 if any step of x is not 0
  int32_t x_step[3];  // as y_step, each for three taps; for any number of taps: [0]
  uint32_t pixels;    // at least 1
  int32_t y_zero_point;
  int32_t min, max;
  const int32_t* offsets;  // of taps, relative to x[0]
  uint32_t pairs;          // number of pairs of taps
  const DepthwiseSegment* segments;
  uint32_t segment_count;  // at least 1
  int32_t half[3][8];      // bias, mult and shift of eight lanes after the whole blocks
};

extern "C" {
void thimble_mve_depthwise_nine(DepthwiseRun* run);
/// Requires zero point -128, min -128 and max 127.
void thimble_mve_depthwise_nine_relu(DepthwiseRun* run);
/// Computes eight additional lanes with the constants in `half`: even lanes first, then odd lanes.
void thimble_mve_depthwise_nine_half(DepthwiseRun* run);
void thimble_mve_depthwise_nine_half_relu(DepthwiseRun* run);
void thimble_mve_depthwise_any(DepthwiseRun* run);
}

}  // namespace thimble::kernels
