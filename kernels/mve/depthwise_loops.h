#pragma once
// The loops of depthwise_mve, in assembly: neighbouring output pixels of one row, over blocks of 16
// lanes. Per lane: products of two taps are added in 16 bits and widened into 32 afterwards.

#include <cstdint>

namespace thimble::kernels {

/// Neighbouring pixels, from where their taps are for the first of them.
struct DepthwiseSegment {
  uint32_t pixels;  // at least 1
  const int8_t* x[9];
};

/// Read and written by assembly, so the order counts. Afterwards x and y are those of the pixel
/// behind the last.
struct DepthwiseRun {
  const int8_t* x[9];  // of each tap, afterwards; of the loop for any number: [0], with offsets
  int8_t* y;
  const uint8_t* blocks;
  uint32_t lanes;     // channels of a pixel, a multiple of 4
  int32_t y_step;     // to the next pixel, from behind the last whole block of this one
  int32_t x_moves;    // whether any of the steps of x is not 0
  int32_t x_step[3];  // as y_step, of three taps each; of any number: [0]
  uint32_t pixels;    // at least 1
  int32_t y_zero_point;
  int32_t min, max;
  const int32_t* offsets;  // of taps, from x[0]
  uint32_t pairs;          // of taps
  const DepthwiseSegment* segments;
  uint32_t segment_count;  // at least 1
  int32_t half[3][8];      // bias, mult and shift of eight lanes behind the others
};

extern "C" {
void thimble_mve_depthwise_nine(DepthwiseRun* run);
/// With zero point and min -128, max 127.
void thimble_mve_depthwise_nine_relu(DepthwiseRun* run);
/// With eight lanes more, those of `half`; the even ones stand in front of the odd ones there.
void thimble_mve_depthwise_nine_half(DepthwiseRun* run);
void thimble_mve_depthwise_nine_half_relu(DepthwiseRun* run);
void thimble_mve_depthwise_any(DepthwiseRun* run);
}

}  // namespace thimble::kernels
