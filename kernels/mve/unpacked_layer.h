// SPDX-License-Identifier: Apache-2.0
#pragma once
// Multiplies the weights of a stock convolution or linear layer, [channels][depth], by the windows
// of three pixels. Channels are computed in tiles, whose constants are computed on the stack.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "abi/matmul_mve.h"
#include "kernels/args/requant.h"
#include "kernels/mve/unpacked_block.h"

namespace thimble::kernels::mve {

/// Returns true if all shifts can be executed with mve/requant.h.
bool shifts_supported(const Requant& requant, int32_t channels);

class UnpackedLayer {
 public:
  /// Requires at least four channels and shifts_supported().
  UnpackedLayer(const int8_t* weights, int32_t channels, uint32_t depth, int32_t x_offset,
                const Requant& requant);

  /// Prepares the next tile of channels for any number of calls of multiply(). Returns false after
  /// the last tile.
  bool next_tile();
  /// Computes the channels of the tile for three pixels, whose first channels are at `y`. The
  /// pixels may be identical.
  void multiply(const UnpackedRow* rows, int8_t* const (&y)[3]);

 private:
  static constexpr int32_t kTileChannels = 64;

  const int8_t* weights_;
  const int32_t channels_;
  const int32_t x_offset_;
  const Requant& requant_;
  int32_t first_ = 0, count_ = 0;  // channels of the tile
  UnpackedBlock block_ = {};
  abi::MatmulQuad quads_[kTileChannels / 4];
};

}  // namespace thimble::kernels::mve

#endif
