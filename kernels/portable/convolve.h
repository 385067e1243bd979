// SPDX-License-Identifier: Apache-2.0
#pragma once
// The portable bodies of convolutions and linear layers, which accept every valid call. Faster
// variants of the stock operators run them for calls that their own loops do not support.

#include "kernels/args/conv.h"
#include "kernels/args/linear.h"

namespace thimble::kernels {

void convolve(const Conv& conv);
void convolve_depthwise(const Conv& conv);
void multiply_rows(const Linear& linear);

}  // namespace thimble::kernels
