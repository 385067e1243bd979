#pragma once
// The weights of a convolution or linear layer (abi/matmul_mve.h) times the windows of pixels,
// which for it are rows of `depth` codes: all channels of one or of three.

#include "kernels/isa.h"

#if THIMBLE_HAS_MVE
#include "abi/matmul_mve.h"
#include "kernels/mve/matmul_block.h"

namespace thimble::kernels::mve {

inline constexpr uint32_t kBlockPixels = 3;

class MatmulLayer {
 public:
  struct Bounds {
    int32_t y_zero_point, min, max;
  };
  MatmulLayer(const void* packed, uint32_t channels, uint32_t depth, const Bounds& bounds);

  [[nodiscard]] uint32_t depth() const { return depth_; }
  [[nodiscard]] uint32_t channels() const { return channels_; }

  /// Rows that lie one after the other, in blocks of three, up to where 16 bytes would reach beyond
  /// the last. Answers how many that were.
  uint32_t multiply_many(const int8_t* x, int8_t* y, uint32_t rows) const;
  /// Makes a block ready for any number of calls that find in it other x, or rows, and y. Of a
  /// pixel, 16 bytes are read even if the depth is less; the three need not be different ones.
  void begin(PixelBlocks* block) const;
  void begin(WindowBlock* block) const;
  void multiply_block(PixelBlocks* block) const { multiply_three(block, multiply_pixels); }
  void multiply_block(WindowBlock* block) const { multiply_three(block, multiply_windows); }
  /// Only depth's bytes are read.
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

}  // namespace thimble::kernels::mve

#endif
