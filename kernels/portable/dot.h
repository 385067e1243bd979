#pragma once
// The multiply-accumulate loops of conv2d and linear: acc[k] += sum over i of (x[i] + x_offset) *
// w[k * w_step + i], wrapping.

#include <cstdint>

namespace thimble::kernels {

void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n, int32_t x_offset,
                uint32_t (&acc)[4]);
void accumulate(const int8_t* x, const int8_t* w, int32_t w_step, int32_t n, int32_t x_offset,
                uint32_t (&acc)[1]);

}  // namespace thimble::kernels
