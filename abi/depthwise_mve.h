// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants of depthwise convolutions packed for Helium. The rules of abi/kernel_layout.h apply.

#include <cstdint>

#include "abi/params/window.h"

namespace thimble::abi {

/// depthwise_mve has channel multiplier 1, and the channel count is a multiple of 4. Its constants
/// are WindowGeometry and the weights in blocks of 16 lanes. Lane l of block b belongs to channel
/// 16 * b + l. With 4 or 8 channels there is one block, which repeats the channels, so that
/// neighbouring pixels share a vector. A block contains, in this order:
///   int32 bias[16], which includes -zero_point of x times the sum of the weights,
///   int8 weights[depthwise_taps][16], zero after the last tap,
///   int8 shift[16], each -31 to -1,
///   int32 mult[16].
/// bias, shift and mult are in the order of depthwise_lane_position(). Weights are multiplied by
/// quantized values without subtracting the zero point. Of two successive taps (of nine taps: in
/// the first eight) at most one weight is -128, so that the sum of the two products fits 16 bits.
inline constexpr int32_t kDepthwiseLanes = 16;
/// Number of taps in a block. Kernels multiply two taps at a time; nine taps have a separate loop.
constexpr int32_t depthwise_taps(int32_t taps) {
  return taps == 9 ? taps : taps + (taps & 1);
}
/// Position of `lane` in bias, shift and mult. Vectors of 32-bit lanes hold every fourth channel:
/// 0 4 8 12, 2 6 10 14, 1 5 9 13, 3 7 11 15.
constexpr uint32_t depthwise_lane_position(uint32_t lane) {
  return (lane & 1) * 8 + (lane >> 1 & 1) * 4 + lane / 4;
}
/// Scratch size: offsets of the taps for inner pixels and for border pixels, then one padding
/// pixel.
constexpr int32_t depthwise_scratch_bytes(const WindowGeometry& g) {
  const int32_t taps = g.kernel_h * g.kernel_w;
  const int32_t offsets = taps == 9 ? 0 : 8 * depthwise_taps(taps);
  return offsets + (g.in_c + 15) / 16 * 16;
}

}  // namespace thimble::abi
