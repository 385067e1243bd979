// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assembly functions of linear on the DSP extension: four outputs of a row at a time. A half
// word of weights serves two outputs, see conv_blocks.h.

#include <cstdint>

#include "kernels/dsp/dual_issue.h"

namespace thimble::kernels::dsp {

/// Groups of four values of the depth in the unrolled loop of thimble_dsp_linear_row().
constexpr uint32_t kLinearUnrolled = THIMBLE_HAS_DSP_M7 ? 4 : 8;

struct LinearRow {
  const int8_t* x;
  const int8_t* x_end;  // x plus a multiple of 4, at least 4
  int8_t* y;
  int8_t* y_end;  // y plus a multiple of 4, at least 4
  int32_t zero_point;
  uint32_t skip;  // -(depth / 4) modulo kLinearUnrolled
};

}  // namespace thimble::kernels::dsp

/// Computes one row. Returns the end of the packed weights read.
extern "C" const void* thimble_dsp_linear_row(const thimble::kernels::dsp::LinearRow* row,
                                              const void* weights);
/// Computes two outputs at y from a pair of weights.
extern "C" void thimble_dsp_linear_pair(const thimble::kernels::dsp::LinearRow* row,
                                        const void* weights);
