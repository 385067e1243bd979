#pragma once
// What linear on the DSP extension is made of: four outputs of a row at a time, 16 instructions for
// 16 products. Half words of weights serve two outputs, see conv_blocks.h.

#include <cstdint>

namespace thimble::kernels::dsp {

struct LinearRow {
  const int8_t* x;
  const int8_t* x_end;  // a multiple of 4 further, at least 4
  int8_t* y;
  int8_t* y_end;  // a multiple of 4 further, at least 4
  int32_t zero_point;
  uint32_t skip;  // -(fours of the depth) modulo 4
};

}  // namespace thimble::kernels::dsp

/// Returns where the packed weights go on.
extern "C" const void* thimble_dsp_linear_row(const thimble::kernels::dsp::LinearRow* row,
                                              const void* weights);
/// Makes two outputs at y, of a pair of weights.
extern "C" void thimble_dsp_linear_pair(const thimble::kernels::dsp::LinearRow* row,
                                        const void* weights);
