// SPDX-License-Identifier: Apache-2.0
#pragma once
// Multiplies the weights of a stock convolution, [channels][depth], by the windows of two pixels.
// Channels are computed in tiles, whose constants are computed on the stack.

#include "kernels/isa.h"

#if THIMBLE_HAS_DSP
#include "kernels/args/requant.h"
#include "kernels/dsp/unpacked_block.h"

namespace thimble::kernels::dsp {

/// Returns true if sums of `depth` products fit 31 bits with each bias, and all shifts are to the
/// right by 2 to 31.
bool requant_supported(const Requant& requant, int32_t channels, int32_t depth);

/// Returns 2^(32 - right) of a channel with requant_supported().
inline int32_t scale_of(const Requant& requant, int32_t channel) {
  return static_cast<int32_t>(uint32_t{1} << (32 + requant.shift[channel * requant.shift_step]));
}

/// Returns the sum of `count` weights.
int32_t sum_of(const int8_t* weights, int32_t count);

class UnpackedLayer {
 public:
  /// Requires at least two channels and requant_supported().
  UnpackedLayer(const int8_t* weights, int32_t channels, int32_t depth, int32_t x_offset,
                const Requant& requant);

  /// Prepares the next tile of channels for any number of calls of multiply(). Returns false after
  /// the last tile.
  bool next_tile();
  /// Computes the channels of the tile for two pixels, whose first channels are at `y`. The pixels
  /// may be identical.
  void multiply(const UnpackedRow* rows, int8_t* const (&y)[2]);

 private:
  static constexpr int32_t kTileChannels = 32;

  const int8_t* weights_;
  const int32_t channels_, depth_, x_offset_;
  const Requant& requant_;
  int32_t first_ = 0, count_ = 0;  // channels of the tile
  UnpackedChannel tile_[kTileChannels];
};

}  // namespace thimble::kernels::dsp

#endif
