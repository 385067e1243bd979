#pragma once
// Constants of convolutions and linears packed for cores without DSP instructions; rules as in
// abi/native_params.h.

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

/// Packings of cores without DSP instructions (conv2d_scalar, depthwise_scalar, linear_scalar): the
/// constant with the weights begins with one of these for each output channel. Then
/// y = clamp((c + (c < 0 ? -1 : 0) + round) >> shift, min, max) with
/// c = floor((acc * mult + 2^30) / 2^31), which is requantize() of docs/numerics.md with the zero
/// point of y; |acc| < 2^29, 0 <= mult, shift 1 to kScalarShiftMax.
struct ScalarChannel {
  int32_t bias;  // acc without x: bias - x_zero_point * sum of the channel's weights
  int32_t mult;
  int32_t round;  // (2 * y_zero_point + 1) << (shift - 1)
  int32_t shift;  // to the right
};
static_assert(sizeof(ScalarChannel) == 16);
inline constexpr int32_t kScalarShiftMax = 22;
inline constexpr int64_t kScalarAccLimit = int64_t{1} << 29;

/// Then follow int8 weights. conv2d_scalar: [out_c][kernel_h][kernel_w][in_c], each channel filled
/// with zeros to scalar_row() bytes; linear_scalar: [out_features][in_features], filled likewise;
/// depthwise_scalar: [kernel_h][kernel_w][out_c], channel o reads input o / (out_c / in_c).
/// conv2d_scalar: of a channel's weights 2k and 2k + 1 one is not -128, so that products of both
/// with codes add up to 16 bits. Scratch, 4-byte aligned: conv2d_scalar kScalarPixels windows of
/// scalar_row() bytes, for Armv6-M kScalarPairRows; depthwise_scalar a window with one
/// more column, or a window of the channels of x and one of those of y where they differ.
constexpr int64_t scalar_row(int64_t weights) {
  return (weights + 3) / 4 * 4;
}
inline constexpr int64_t kScalarPixels = 3;
inline constexpr int64_t kScalarPairRows = 5;
constexpr int64_t scalar_depthwise_scratch(const WindowGeometry& g) {
  const int64_t taps = int64_t{g.kernel_h} * g.kernel_w;
  return g.in_c == g.out_c ? (taps + g.kernel_h) * g.out_c : taps * (g.in_c + g.out_c);
}

}  // namespace thimble::abi
