// What is over four channels, or over eight of a single row, goes by way of the stack.

#include "kernels/mve/matmul_layer.h"

#if THIMBLE_HAS_MVE
#include "kernels/args/matmul_mve.h"
#include "kernels/mve/copy.h"
#include "kernels/mve/matmul_row.h"
#include "kernels/mve/requant.h"

namespace thimble::kernels::mve {
namespace {
constexpr uint32_t kLanes = abi::kMatmulLanes;
}  // namespace

MatmulLayer::MatmulLayer(const void* packed, uint32_t channels, uint32_t depth,
                         const Bounds& bounds)
    : quads_(matmul_quads_of(packed)),
      weights_(matmul_weights_of(packed, abi::matmul_quads(channels))),
      channels_(channels),
      depth_(depth) {
  block_.depth_rest = depth > kLanes ? depth - kLanes : 0;
  block_.y_zero_point = bounds.y_zero_point;
  block_.halves_down = halves_down(bounds.y_zero_point, bounds.min);
  block_.min = bounds.min;
  block_.max = bounds.max;
}

void MatmulLayer::set_quads(PixelBlocks* blocks, uint32_t first, uint32_t end) const {
  blocks->quads = quads_ + first;
  blocks->quads_end = quads_ + end;
  blocks->weights = weights_ + first * 4 * abi::matmul_padded(depth_);
}

uint32_t MatmulLayer::multiply_many(const int8_t* x, int8_t* y, uint32_t rows) {
  uint32_t safe = rows;
  if (depth_ < kLanes) safe = rows * depth_ < kLanes ? 0 : (rows * depth_ - kLanes) / depth_ + 1;
  const uint32_t blocks = safe / kBlockPixels;
  if (blocks == 0) return 0;
  if (channels_ % 4 == 0) {
    for (uint32_t i = 0; i < kBlockPixels; ++i) {
      block_.x[i] = x + i * depth_;
      block_.y[i] = y + i * channels_;
    }
    block_.x_step = kBlockPixels * depth_;
    block_.y_step = (kBlockPixels - 1) * channels_;
    block_.blocks = blocks;
    set_quads(&block_, 0, channels_ / 4);
    multiply_pixels(&block_);
    return blocks * kBlockPixels;
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    multiply_three({x, x + depth_, x + 2 * depth_}, {y, y + channels_, y + 2 * channels_});
    x += kBlockPixels * depth_;
    y += kBlockPixels * channels_;
  }
  return blocks * kBlockPixels;
}

void MatmulLayer::multiply_three(const int8_t* const (&x)[kBlockPixels],
                                 int8_t* const (&y)[kBlockPixels]) {
  const uint32_t whole = channels_ / 4;
  const uint32_t rest = channels_ % 4;
  block_.blocks = 1;
  for (uint32_t i = 0; i < kBlockPixels; ++i) {
    block_.x[i] = x[i];
    block_.y[i] = y[i];
  }
  if (whole != 0) {
    set_quads(&block_, 0, whole);
    multiply_pixels(&block_);
  }
  if (rest == 0) return;
  int8_t codes[kBlockPixels][4];
  for (uint32_t i = 0; i < kBlockPixels; ++i) block_.y[i] = codes[i];
  set_quads(&block_, whole, whole + 1);
  multiply_pixels(&block_);
  for (uint32_t i = 0; i < kBlockPixels; ++i) copy(y[i] + 4 * whole, codes[i], rest);
}

void MatmulLayer::multiply_one(const int8_t* x, int8_t* y) const {
  RowBlocks row;
  row.y_zero_point = block_.y_zero_point;
  row.halves_down = block_.halves_down;
  row.min = block_.min;
  row.max = block_.max;
  row.pair_bytes = 2 * abi::matmul_padded(depth_);
  row.x = x;
  row.whole = depth_ / kLanes;
  row.part = depth_ % kLanes;
  row.quads = quads_;
  row.weights = weights_;
  row.y = y;
  const uint32_t whole = channels_ / 8;
  const uint32_t rest = channels_ % 8;
  if (whole != 0) {
    row.quads_end = quads_ + 2 * whole;
    multiply_row(&row);
  }
  if (rest == 0) return;
  int8_t codes[8];
  if (rest > 4) {
    row.quads = quads_ + 2 * whole;
    row.quads_end = quads_ + 2 * whole + 2;
    row.weights = weights_ + whole * 4 * row.pair_bytes;
    row.y = codes;
    multiply_row(&row);
  } else {
    int8_t first[kLanes];
    if (depth_ < kLanes) {
      copy(first, x, depth_);
      x = first;
    }
    PixelBlocks block = block_;
    for (uint32_t i = 0; i < kBlockPixels; ++i) {
      block.x[i] = x;
      block.y[i] = codes;
    }
    block.blocks = 1;
    set_quads(&block, 2 * whole, 2 * whole + 1);
    multiply_pixels(&block);
  }
  copy(y + 8 * whole, codes, rest);
}

}  // namespace thimble::kernels::mve
#endif
