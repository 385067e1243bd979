#pragma once
// Constants of convolutions and linears packed for the DSP extension; rules as in
// abi/native_params.h.

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

/// conv2d_dsp: x, WindowGeometry, weights, scratch, y; groups 1. The depth of a filter is that of
/// its taps in memory order [kernel_h][kernel_w][in_c], with zeros to a multiple of 4. Weights: for
/// each pair of output channels (a, b), the last b missing where their count is odd,
///   int32 bias of a,
///   for each four of the depth int16 256 * b + a, in the order 0 2 1 3,
///   int32 twice the bias of b, mult of a, scale of a, mult of b, scale of b.
/// The bias holds -zero_point of x times the sum of the filter. scale = 2^(32-right), right >= 2
/// the shift to the right. Sums of a and of the half words begin with the bias of a, wrap and
/// give s: of a, twice the first; of b, the bias plus (second - first) / 128. Then
/// c = (s * mult + 2^31) / 2^32, and the code is ((c - (c < 0)) * scale + 2^31) / 2^32 plus the
/// zero point, all rounded down and wrapping at 32 bits, then saturated and clamped.
constexpr int64_t dsp_conv_depth(const WindowGeometry& g) {
  return (int64_t{g.kernel_h * g.kernel_w} * g.in_c + 3) / 4 * 4;
}
constexpr int64_t dsp_conv_weights_bytes(const WindowGeometry& g) {
  return (g.out_c + int64_t{1}) / 2 * (24 + 2 * dsp_conv_depth(g));
}
/// Three pixels as columns of int16; then their codes, where rows of words do not hold just the
/// codes of a tap, or a pixel of the padding.
constexpr int64_t dsp_conv_scratch_bytes(const WindowGeometry& g) {
  const int64_t depth = dsp_conv_depth(g);
  if (g.in_c % 4 != 0) return 9 * depth;
  return 6 * depth + (g.kernel_h * g.kernel_w == 1 ? 0 : g.in_c);
}

/// depthwise_dsp: x, WindowGeometry, weights, scratch, y; as many channels out as in, a multiple of
/// 4. Taps in memory order, filled up with taps of zeros to a multiple of 3. Weights, for each four
/// channels: int32 twice the bias [4]; for each tap int16 twice the weight [4], in the order
/// 0 2 1 3 of the channels; int32 mult [4], scale [4]. Sums, bias, scale and code as of conv2d_dsp.
constexpr int64_t dsp_depthwise_taps(const WindowGeometry& g) {
  return (g.kernel_h * g.kernel_w + 2) / 3 * 3;
}
constexpr int64_t dsp_depthwise_weights_bytes(const WindowGeometry& g) {
  return g.in_c / 4 * (48 + 8 * dsp_depthwise_taps(g));
}
/// Where each tap lies, then the codes of a pixel of the padding.
constexpr int64_t dsp_depthwise_scratch_bytes(const WindowGeometry& g) {
  return 4 * dsp_depthwise_taps(g) + g.in_c;
}

/// linear_dsp: x, LinearGeometry, weights, y; in_features a multiple of 4. Weights, for each four
/// outputs a, b, c, d, where a missing d is zeros: int32 bias of a and of c; for each four of the
/// depth the half words 256 * b + a and 256 * d + c of conv2d_dsp, as words ab of (0, 2), cd of
/// (0, 2), ab of (1, 3), cd of (1, 3); then for a and b, for c and d, the five words that end a
/// pair of conv2d_dsp. One or two outputs that are left are a pair of conv2d_dsp.
constexpr int64_t dsp_linear_weights_bytes(const LinearGeometry& g) {
  return (g.out_features + int64_t{1}) / 2 * (24 + 2 * int64_t{g.in_features});
}

}  // namespace thimble::abi
