// SPDX-License-Identifier: Apache-2.0
// Three rows by four channels as in a convolution. The remaining rows, or a single row, are
// computed with four channels at a time.

#include "kernels/mve/unpacked_rows.h"

#if THIMBLE_HAS_MVE
#include "kernels/mve/requant.h"
#include "kernels/mve/unpacked_layer.h"

namespace thimble::kernels::mve {
namespace {

constexpr int32_t kTileChannels = 64;

void multiply_three_rows(const Linear& linear, int32_t rows) {
  const auto depth = static_cast<uint32_t>(linear.in);
  UnpackedLayer layer(linear.w, linear.out, depth, linear.x_offset, linear.requant);
  UnpackedRow row[2] = {};
  row[0].bytes = depth;
  while (layer.next_tile()) {
    const int8_t* x = linear.x;
    int8_t* y = linear.y;
    for (int32_t i = 0; i < rows; i += 3) {
      int8_t* const at[3] = {y, y + linear.out, y + 2 * linear.out};
      for (int32_t k = 0; k < 3; ++k) row[0].x[k] = x + k * linear.in;
      layer.multiply(row, at);
      x += 3 * linear.in;
      y += 3 * linear.out;
    }
  }
}

/// Computes `count` channels of a row, at least four.
void multiply_channels(const Linear& linear, const int8_t* x, int32_t first, int32_t count,
                       int8_t* y) {
  const Requant& requant = linear.requant;
  const auto depth = static_cast<uint32_t>(linear.in);
  const auto* const shifts = reinterpret_cast<const int32_t*>(requant.shift);
  const bool one_scale = requant.mult_step == 0 && requant.shift_step == 0;
  int32_t bias[kTileChannels];
  int32_t mult[kTileChannels];
  int32_t shift[kTileChannels];
  UnpackedRowBlock block;
  block.x = x;
  block.depth = depth;
  block.weights = linear.w + first * linear.in;
  block.y = y + first;
  block.y_end = block.y + (count & ~3);
  block.y_zero_point = requant.y_offset;
  block.negative_rounding_correction = negative_rounding_correction(requant.y_offset, requant.min);
  block.min = requant.min;
  block.max = requant.max;
  block.scale_step = one_scale ? 0 : 16;
  if (requant.bias != nullptr && linear.x_offset == 0) {
    block.bias = requant.bias + first;
  } else {
    const int8_t* w = block.weights;
    for (int32_t i = 0; i < count; ++i, w += depth) {
      uint32_t start = static_cast<uint32_t>(requant.start(first + i));
      if (linear.x_offset != 0) start += static_cast<uint32_t>(linear.x_offset) * sum_of(w, depth);
      bias[i] = static_cast<int32_t>(start);
    }
    block.bias = bias;
  }
  if (requant.mult_step == 1 && requant.shift_step == 4) {
    block.mult = requant.mult + first;
    block.shift = shifts + first;
  } else {
    for (int32_t i = 0; i < (one_scale ? 4 : count); ++i) {
      mult[i] = requant.mult[(first + i) * requant.mult_step];
      shift[i] = requant.shift[(first + i) * requant.shift_step];
    }
    block.mult = mult;
    block.shift = shift;
  }
  const int32_t* const constants[] = {block.bias, block.mult, block.shift};
  multiply_unpacked_row(&block);
  if (count % 4 == 0) return;
  // The last channels are computed together with channels before them, a second time.
  const int32_t again = count - 4;
  block.weights = linear.w + (first + again) * linear.in;
  block.y = y + first + again;
  block.y_end = block.y + 4;
  block.bias = constants[0] + again;
  block.mult = constants[1] + (one_scale ? 0 : again);
  block.shift = constants[2] + (one_scale ? 0 : again);
  multiply_unpacked_row(&block);
}

void multiply_row(const Linear& linear, const int8_t* x, int8_t* y) {
  const bool at_once = linear.requant.bias != nullptr && linear.x_offset == 0 &&
                       (linear.requant.mult_step == 1) == (linear.requant.shift_step == 4);
  if (at_once) {
    multiply_channels(linear, x, 0, linear.out, y);
    return;
  }
  for (int32_t first = 0; first < linear.out;) {
    int32_t count = linear.out - first;
    if (count > kTileChannels) count = kTileChannels;
    if (count < 4) {
      first = linear.out - 4;
      count = 4;
    }
    multiply_channels(linear, x, first, count, y);
    first += count;
  }
}

}  // namespace

void multiply_unpacked_rows(const Linear& linear) {
  int32_t row = linear.rows - linear.rows % 3;
  if (row != 0) multiply_three_rows(linear, row);
  for (; row < linear.rows; ++row) {
    multiply_row(linear, linear.x + row * linear.in, linear.y + row * linear.out);
  }
}

}  // namespace thimble::kernels::mve
#endif
