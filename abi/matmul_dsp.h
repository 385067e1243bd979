// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constants of convolutions and linears packed for the DSP extension. The rules of
// abi/kernel_layout.h apply.

#include <cstdint>

#include "abi/params/linear.h"
#include "abi/params/window.h"

namespace thimble::abi {

/// Operands of conv2d_dsp: x, WindowGeometry, weights, scratch, y; groups is 1. The depth of a
/// filter is the number of its weights in memory order [kernel_h][kernel_w][in_c], padded with
/// zeros to a multiple of 4. A pair of output channels (a, b) has these words:
///   int32 bias of a,
///   for each four weights of the depth int16 256 * b + a, in the order 0 2 1 3,
///   int32 twice the bias of b, mult of a, scale of a, mult of b, scale of b.
/// The weights contain, for each four output channels, the words of the first two and of the last
/// two: they alternate. Words of channels that do not exist are not used. The bias includes
/// -zero_point of x times the sum of the filter. scale is 2^(32 - right); right >= 2 is the right
/// shift.
///
/// Both accumulators start with the bias of a and wrap. The first sums x * a; the second sums
/// x * (256 * b + a). s is twice a channel's sum: for a, twice the first accumulator; for b, the
/// stored bias plus (second - first) / 128. Then c = (s * mult + 2^31) / 2^32, and the quantized
/// value is ((c - (c < 0)) * scale + 2^31) / 2^32 plus the zero point. All divisions round down and
/// wrap at 32 bits. The result is then saturated and clamped.
constexpr int64_t dsp_conv_depth(const WindowGeometry& g) {
  return (int64_t{g.kernel_h * g.kernel_w} * g.in_c + 3) / 4 * 4;
}
constexpr int64_t dsp_conv_quad_bytes(const WindowGeometry& g) {
  return 48 + 4 * dsp_conv_depth(g);
}
constexpr int64_t dsp_conv_weights_bytes(const WindowGeometry& g) {
  return (g.out_c + int64_t{3}) / 4 * dsp_conv_quad_bytes(g);
}
/// Scratch size: the windows of three pixels as int16 columns. If in_c is no multiple of 4, the
/// int8 windows follow; else, if the filter has several taps, one padding pixel follows.
constexpr int64_t dsp_conv_scratch_bytes(const WindowGeometry& g) {
  const int64_t depth = dsp_conv_depth(g);
  if (g.in_c % 4 != 0) return 9 * depth;
  return 6 * depth + (g.kernel_h * g.kernel_w == 1 ? 0 : g.in_c);
}

/// Operands of depthwise_dsp: x, WindowGeometry, weights, scratch, y. The number of output channels
/// equals the number of input channels and is a multiple of 4. Taps are in memory order, padded
/// with zero taps to a multiple of 3. The weights contain, for each four channels: int32 twice the
/// bias [4]; for each tap int16 twice the weight [4], in the channel order 0 2 1 3; int32 mult [4],
/// scale [4]. Accumulators, bias, scale and result are as in conv2d_dsp.
constexpr int64_t dsp_depthwise_taps(const WindowGeometry& g) {
  return (g.kernel_h * g.kernel_w + 2) / 3 * 3;
}
constexpr int64_t dsp_depthwise_weights_bytes(const WindowGeometry& g) {
  return g.in_c / 4 * (48 + 8 * dsp_depthwise_taps(g));
}
/// Scratch size: the address of each tap, then one padding pixel.
constexpr int64_t dsp_depthwise_scratch_bytes(const WindowGeometry& g) {
  return 4 * dsp_depthwise_taps(g) + g.in_c;
}

/// Operands of linear_dsp: x, LinearGeometry, weights, y; in_features is a multiple of 4. The
/// weights contain, for each four outputs a, b, c, d (zeros for a missing d):
///   int32 bias of a and of c,
///   for each four weights of the depth the half words ab = 256 * b + a and cd = 256 * d + c of
///   conv2d_dsp, as the words ab of (0, 2), cd of (0, 2), ab of (1, 3), cd of (1, 3),
///   for (a, b), then for (c, d), the five words that end a pair of conv2d_dsp.
/// One or two remaining outputs are the words of a pair of conv2d_dsp.
constexpr int64_t dsp_linear_weights_bytes(const LinearGeometry& g) {
  return (g.out_features + int64_t{1}) / 2 * (24 + 2 * int64_t{g.in_features});
}

/// Operands of conv2d_dsp_int4 and linear_dsp_int4: as those of conv2d_dsp and linear_dsp, with
/// weights of 4 bits. conv2d_dsp_int4 has one pair of output channels after the other. A byte 16 *
/// b + a + 8 (int4_offset_pair, abi/int4.h) replaces each half word 256 * b + a, and the bytes are
/// in the order of the depth: 0 1 2 3. In linear_dsp_int4, a word of four bytes of (a, b) and a
/// word of (c, d) alternate.
///
/// Both accumulators start with the bias of a minus 8 times the sum of x. The first sums x * (a +
/// 8); the second sums x * (16 * b + a + 8). s is twice a channel's sum: for a, twice the first
/// accumulator; for b, the stored bias plus (second - first) / 8.
constexpr int64_t dsp_conv_int4_weights_bytes(const WindowGeometry& g) {
  return (g.out_c + int64_t{1}) / 2 * (24 + dsp_conv_depth(g));
}
constexpr int64_t dsp_linear_int4_weights_bytes(const LinearGeometry& g) {
  return (g.out_features + int64_t{1}) / 2 * (24 + int64_t{g.in_features});
}

}  // namespace thimble::abi
