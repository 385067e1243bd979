// SPDX-License-Identifier: Apache-2.0
#pragma once
// Depthwise convolution on Helium of all channels, or of neighbouring channels of an image.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include <cstdint>

#include "abi/params/window.h"

namespace thimble::kernels::mve {

/// Weights and scratch are those of abi/depthwise_mve.h for `lanes` channels, which begin at x and
/// y. in_c of the geometry is the number of channels of the image. `lanes` is a multiple of 4, and
/// all channels if the image has at most 8.
struct DepthwiseTile {
  const abi::WindowGeometry& geometry;
  const int8_t* x;
  const uint8_t* blocks;
  int8_t* scratch;
  int8_t* y;
  int32_t lanes;
};

void run_depthwise(const DepthwiseTile& tile);

}  // namespace thimble::kernels::mve

#endif
