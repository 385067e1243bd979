#pragma once
// Constants of depthwise convolutions packed for Helium; rules as in abi/native_params.h.

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

/// depthwise_mve, channel multiplier 1, channels a multiple of 4: WindowGeometry, and the weights
/// in blocks of 16 lanes, lane l of block b for channel 16 * b + l. With 4 or 8 channels the one
/// block repeats them, so that neighbouring pixels share a vector. A block is int32 bias[16], int8
/// weights[depthwise_taps][16] (those behind the last tap are 0), int8 shift[16], int32 mult[16];
/// bias, shift and mult in the order of depthwise_place(). The bias contains -zero_point of x times
/// the sum of the weights; products are of codes. Shifts are -31 to -1, and of two taps in a row
/// (of nine: the first eight) not both weights are -128, so that two products fit 16 bits.
inline constexpr int32_t kDepthwiseLanes = 16;
/// Two taps are multiplied at a time; nine have a loop of their own.
constexpr int32_t depthwise_taps(int32_t taps) {
  return taps == 9 ? taps : taps + (taps & 1);
}
/// Vectors of 32-bit lanes hold every fourth channel: 0 4 8 12, 2 6 10 14, 1 5 9 13, 3 7 11 15.
constexpr uint32_t depthwise_place(uint32_t lane) {
  return (lane & 1) * 8 + (lane >> 1 & 1) * 4 + lane / 4;
}
/// Offsets of the taps, for pixels in the image and at its border, then one pixel of padding.
constexpr int32_t depthwise_scratch_bytes(const WindowGeometry& g) {
  const int32_t taps = g.kernel_h * g.kernel_w;
  const int32_t offsets = taps == 9 ? 0 : 8 * depthwise_taps(taps);
  return offsets + (g.in_c + 15) / 16 * 16;
}

}  // namespace thimble::abi
