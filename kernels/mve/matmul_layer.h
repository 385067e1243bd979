// SPDX-License-Identifier: Apache-2.0
#pragma once
// Multiplies the weights of a convolution or linear layer (abi/matmul_mve.h) by the windows of one
// or three pixels. A window is a row of `depth` int8 values. All output channels are computed.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "abi/matmul_mve.h"
#include "kernels/mve/matmul_block.h"
#include "kernels/mve/matmul_row.h"

namespace thimble::kernels::mve {

inline constexpr uint32_t kBlockPixels = 3;

/// Weights of 8 bits: the loops, and the bytes of the weights of two channels at one depth.
struct Int8Weights {
  static constexpr uint32_t kPairBytes = 2;
  static constexpr auto kMultiplyPixels = multiply_pixels;
  static constexpr auto kMultiplyWindows = multiply_windows;
  static constexpr auto kMultiplyRow = multiply_row;
};

template <class Weights>
class AnyMatmulLayer {
 public:
  struct Bounds {
    int32_t y_zero_point, min, max;
  };
  AnyMatmulLayer(const void* packed, uint32_t channels, uint32_t depth, const Bounds& bounds);

  [[nodiscard]] uint32_t depth() const { return depth_; }
  [[nodiscard]] uint32_t channels() const { return channels_; }

  /// Computes contiguous rows in blocks of three, as long as reads of 16 bytes stay inside the last
  /// row. Returns the number of rows computed.
  uint32_t multiply_many(const int8_t* x, int8_t* y, uint32_t rows) const;
  /// Prepares a block for any number of calls; the caller sets x (or rows) and y for each call. 16
  /// bytes of each pixel are read even if the depth is less. The three pixels may be identical.
  void begin(PixelBlocks* block) const;
  void begin(WindowBlock* block) const;
  void multiply_block(PixelBlocks* block) const { multiply_three(block, Weights::kMultiplyPixels); }
  void multiply_block(WindowBlock* block) const {
    multiply_three(block, Weights::kMultiplyWindows);
  }
  /// Computes one row; reads exactly `depth` bytes.
  void multiply_one(const int8_t* x, int8_t* y) const;

 private:
  template <class Block>
  void begin_any(Block* block) const;
  template <class Block>
  void set_quads(Block* block, uint32_t first, uint32_t end) const;
  template <class Block>
  void multiply_three(Block* block, void (*run)(Block*)) const {
    if (channels_ % 4 == 0) return run(block);
    multiply_with_rest(block, run);
  }
  template <class Block>
  void multiply_with_rest(Block* block, void (*run)(Block*)) const;

  const abi::MatmulQuad* quads_;
  const int8_t* weights_;
  uint32_t channels_, depth_;
  Bounds bounds_;
};

using MatmulLayer = AnyMatmulLayer<Int8Weights>;

}  // namespace thimble::kernels::mve

#endif
