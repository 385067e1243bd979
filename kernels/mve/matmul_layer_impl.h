// SPDX-License-Identifier: Apache-2.0
#pragma once
// Definitions of AnyMatmulLayer, for the files that instantiate it.

#include "kernels/args/matmul_mve.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/matmul_layer.h"
#include "kernels/mve/requant.h"

namespace thimble::kernels::mve {
template <class Weights>
AnyMatmulLayer<Weights>::AnyMatmulLayer(const void* packed, uint32_t channels, uint32_t depth,
                                        const Bounds& bounds)
    : quads_(matmul_quads_of(packed)),
      weights_(matmul_weights_of(packed, abi::matmul_quads(channels))),
      channels_(channels),
      depth_(depth),
      bounds_(bounds) {}

template <class Weights>
template <class Block>
void AnyMatmulLayer<Weights>::set_quads(Block* block, uint32_t first, uint32_t end) const {
  block->quads = quads_ + first;
  block->quads_end = quads_ + end;
  block->weights = weights_ + first * 2 * Weights::kPairBytes * abi::matmul_padded(depth_);
}

template <class Weights>
template <class Block>
void AnyMatmulLayer<Weights>::begin_any(Block* block) const {
  block->y_zero_point = bounds_.y_zero_point;
  block->negative_rounding_correction =
      negative_rounding_correction(bounds_.y_zero_point, bounds_.min);
  block->min = bounds_.min;
  block->max = bounds_.max;
  set_quads(block, 0, channels_ / 4);
}

template <class Weights>
void AnyMatmulLayer<Weights>::begin(PixelBlocks* block) const {
  begin_any(block);
  block->depth_rest = depth_ > abi::kMatmulLanes ? depth_ - abi::kMatmulLanes : 0;
  block->blocks = 1;  // multiply_pixels() does not change it for one block
}

template <class Weights>
void AnyMatmulLayer<Weights>::begin(WindowBlock* block) const {
  begin_any(block);
}

/// Computes the channels of an incomplete last quad on the stack, then copies them.
template <class Weights>
template <class Block>
void AnyMatmulLayer<Weights>::multiply_with_rest(Block* block, void (*run)(Block*)) const {
  const uint32_t whole = channels_ / 4;
  int8_t codes[kBlockPixels][4];
  int8_t* y[kBlockPixels];
  for (uint32_t i = 0; i < kBlockPixels; ++i) y[i] = block->y[i] + 4 * whole;
  if (whole != 0) {
    set_quads(block, 0, whole);
    run(block);
  }
  for (uint32_t i = 0; i < kBlockPixels; ++i) block->y[i] = codes[i];
  set_quads(block, whole, whole + 1);
  run(block);
  for (uint32_t i = 0; i < kBlockPixels; ++i) copy(y[i], codes[i], channels_ % 4);
}

template <class Weights>
uint32_t AnyMatmulLayer<Weights>::multiply_many(const int8_t* x, int8_t* y, uint32_t rows) const {
  uint32_t safe = rows;
  if (depth_ < abi::kMatmulLanes)
    safe = rows * depth_ < abi::kMatmulLanes ? 0 : (rows * depth_ - abi::kMatmulLanes) / depth_ + 1;
  const uint32_t blocks = safe / kBlockPixels;
  if (blocks == 0) return 0;
  PixelBlocks block;
  begin(&block);
  const bool at_once = channels_ % 4 == 0;
  block.blocks = at_once ? blocks : 1;
  block.x_step = kBlockPixels * depth_;
  block.y_step = (kBlockPixels - 1) * channels_;
  for (uint32_t call = 0; call < (at_once ? 1 : blocks); ++call) {
    for (uint32_t i = 0; i < kBlockPixels; ++i) {
      block.x[i] = x + i * depth_;
      block.y[i] = y + i * channels_;
    }
    multiply_block(&block);
    x += kBlockPixels * depth_;
    y += kBlockPixels * channels_;
  }
  return blocks * kBlockPixels;
}

template <class Weights>
void AnyMatmulLayer<Weights>::multiply_one(const int8_t* x, int8_t* y) const {
  RowBlocks row;
  row.quads = quads_;
  row.y = y;
  row.y_zero_point = bounds_.y_zero_point;
  row.negative_rounding_correction =
      negative_rounding_correction(bounds_.y_zero_point, bounds_.min);
  row.eight_channels_end = quads_ + channels_ / 8 * 2;
  row.pair_bytes = Weights::kPairBytes * abi::matmul_padded(depth_);
  row.x = x;
  row.depth_tail = depth_ % abi::kMatmulLanes;
  row.loop_end = x + (depth_ - row.depth_tail) - (row.depth_tail != 0 ? 1 : 0);
  row.weights = weights_;
  row.min = bounds_.min;
  row.max = bounds_.max;
  row.depth = depth_;
  row.rest = static_cast<int32_t>(channels_ % 8);
  Weights::kMultiplyRow(&row);
}

}  // namespace thimble::kernels::mve
