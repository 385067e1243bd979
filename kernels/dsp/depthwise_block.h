#pragma once
// What depthwise convolutions on the DSP extension are made of: four channels of a pixel at a time,
// 27 instructions for three taps of all four.

#include <cstdint>

namespace thimble::kernels::dsp {

struct DepthwiseRun {
  const int8_t* const* taps;  // where the first channel of each tap lies, but for `index`
  const int8_t* const* taps_end;
  int8_t* y;
  uint32_t index;     // bytes from the taps to those of the first pixel
  uint32_t channels;  // a multiple of 4, at least 4
  uint32_t pixels;    // side by side, at least one
  uint32_t step;      // from the end of a pixel to the next one's taps
  int32_t zero_point;
};

}  // namespace thimble::kernels::dsp

extern "C" void thimble_dsp_depthwise_run(const thimble::kernels::dsp::DepthwiseRun* run,
                                          const void* weights);
