// SPDX-License-Identifier: Apache-2.0
#pragma once
// The inner loop of convolutions on the DSP extension whose weights are not packed: two pixels and
// two channels at a time.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include <cstdint>

namespace thimble::kernels::dsp {

/// One row of the windows of two pixels. After the last row, a row with 0 bytes follows.
struct UnpackedRow {
  const int8_t* x[2];
  uint32_t bytes;
};

/// Bias, which includes -zero_point of x times the sum of the weights, multiplier and scale
/// 2^(32 - right) of a channel; right is 2 to 31.
struct UnpackedChannel {
  int32_t bias, mult, scale;
};

/// Arguments of multiply_unpacked(), which modifies y, weights and channels. Weights are
/// [channels][depth], where depth is the sum of the rows. The number of channels is even.
struct UnpackedBlock {
  int8_t* y[2];
  const int8_t* weights;
  const UnpackedChannel* channels;
  const UnpackedChannel* channels_end;
  const UnpackedRow* rows;
  uint32_t depth;
  int32_t zero_point;
};

/// Reads exactly the bytes of the rows and of the weights. Sums must fit 31 bits.
void multiply_unpacked(UnpackedBlock* block);

}  // namespace thimble::kernels::dsp

#endif
