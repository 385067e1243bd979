// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly function of depthwise convolutions on the DSP extension: four channels of a pixel at a
// time.

#include <cstdint>

namespace thimble::kernels::dsp {

struct DepthwiseRun {
  const int8_t* const* taps;  // address of each tap's first channel, without `index`
  const int8_t* const* taps_end;
  int8_t* y;
  uint32_t index;     // byte offset of the first pixel's taps from the addresses in `taps`
  uint32_t channels;  // a multiple of 4, at least 4
  uint32_t pixels;    // number of neighbouring pixels, at least 1
  uint32_t step;      // distance from the end of a pixel to the taps of the next pixel
  int32_t zero_point;
};

}  // namespace thimble::kernels::dsp

extern "C" void thimble_dsp_depthwise_run(const thimble::kernels::dsp::DepthwiseRun* run,
                                          const void* weights);
