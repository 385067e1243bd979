// SPDX-License-Identifier: Apache-2.0
#pragma once
// Transposed convolution as a matrix product, for T = float or double. convolution.h explains why
// it is also exact for integers.

#include <cstdint>

#include "eval/call.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

/// conv_transpose2d or qconv_transpose2d: y[O * plane] += sums of products; `bias` may be null.
template <typename T>
void convolve_transposed(const eval::Call& call, const T* x, const T* w, const T* bias, T* y,
                         Scratch& scratch);

}  // namespace thimble::quant
