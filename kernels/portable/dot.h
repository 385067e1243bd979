// SPDX-License-Identifier: Apache-2.0
#pragma once
// The multiply-accumulate loops of conv2d, conv_transpose2d, linear, matmul and the recurrent
// layers: acc[k] += sum over i of (x[i] + x_offset) * w[k * w_step + i], wrapping; x_offset is -127
// to 128. A build contains one implementation: dot.cpp of this folder, of dsp/ or of mve/.

#include <cstdint>

namespace thimble::kernels {

void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n, int32_t x_offset,
                uint32_t (&acc)[4]);
void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n, int32_t x_offset,
                uint32_t (&acc)[1]);

}  // namespace thimble::kernels
