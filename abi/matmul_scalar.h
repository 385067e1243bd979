// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed constants of convolution and linear operators for cores without the DSP extension
// (Isa::kThumb1 and kThumb2; kernels/v6m, kernels/v7m, kernels/portable). The rules of
// abi/kernel_layout.h apply.

#include <cstdint>

#include "abi/params/window.h"

namespace thimble::abi {

/// Record of one output channel in conv2d_scalar, depthwise_scalar and linear_scalar. The constant
/// with the weights begins with one record per output channel. The result is
/// y = clamp((c + (c < 0 ? -1 : 0) + round) >> shift, min, max) with
/// c = floor((acc * mult + 2^30) / 2^31). This equals requantize() of docs/numerics.md plus the
/// zero point of y. |acc| < 2^29, mult >= 0, shift is 1 to kScalarShiftMax.
struct ScalarChannel {
  int32_t bias;  // initial value of acc: bias - x_zero_point * sum of the channel's weights
  int32_t mult;
  int32_t round;  // (2 * y_zero_point + 1) << (shift - 1)
  int32_t shift;  // right shift, in bits 0 to 7
};
static_assert(sizeof(ScalarChannel) == 16);
inline constexpr int32_t kScalarShiftMax = 22;
inline constexpr int64_t kScalarAccLimit = int64_t{1} << 29;

/// The int8 weights follow the records.
///   conv2d_scalar: [out_c][kernel_h][kernel_w][in_c]; each channel is padded with zeros to
///     scalar_row() bytes. Of a channel's weights 2k and 2k + 1 at most one is -128, so that the
///     sum of their products with quantized values fits 16 bits.
///   linear_scalar: [out_features][in_features], padded in the same way.
///   depthwise_scalar: [kernel_h][kernel_w][out_c]; channel o reads input o / (out_c / in_c).
/// conv2d_scalar_int4 and linear_scalar_int4 have weights of 4 bits: a row of scalar_row() bytes
/// (int4_pair, abi/int4.h) contains the weights of channels 2k (low) and 2k + 1 (high), which are 0
/// for a missing last channel.
/// With WindowGeometry::block_pixels of 2 or 4, conv2d_scalar_int4 has scratch for kScalarInt4Rows
/// unpacked rows of weights after the scratch of conv2d_scalar; without it, kernels unpack each
/// weight for each pixel.
/// Scratch is 4-byte aligned. conv2d_scalar needs kScalarPixels windows of scalar_row() bytes, on
/// Armv6-M scalar_pair_rows(). depthwise_scalar needs a window with one more column; if in_c and
/// out_c differ, it needs a window with in_c channels and a window with out_c channels. With
/// WindowGeometry::block_pixels of 4, the kernels of Armv6-M compute four pixels at once, which
/// takes fewer cycles and more scratch; other kernels ignore it.
///
/// With kScalarBlocks in the shift of the first record, linear_scalar has blocks of four outputs
/// for Armv6-M instead of rows: [out_features / 4][in_features / 4][4 outputs][4 weights], where
/// both are multiples of 4. A weight w is stored as scalar_block_code(), so that a word W of four
/// of them needs no extraction: with x + 128 in x0 to x3, W >> n with sign,
///   x0 * W - (x1 + 256 * x0) * (W >> 8) + (x2 + 256 * x1) * (W >> 16)
///     - (x3 + 256 * x2) * (W >> 24)
/// is the sum of the products plus 128 * (x0 - x1 + x2). The bias is for values x + 128.
constexpr int64_t scalar_row(int64_t weights) {
  return (weights + 3) / 4 * 4;
}
constexpr int64_t scalar_int4_bytes(int64_t channels, int64_t weights) {
  return channels * int64_t{sizeof(ScalarChannel)} + (channels + 1) / 2 * scalar_row(weights);
}
inline constexpr int32_t kScalarBlocks = 1 << 8;
constexpr int64_t scalar_block_offset(int64_t output, int64_t k, int64_t in_features) {
  return (output / 4 * (in_features / 4) + k / 4) * 16 + output % 4 * 4 + k % 4;
}
/// Requires a weight above -128 at odd k.
constexpr int8_t scalar_block_code(int32_t weight, int64_t k) {
  return static_cast<int8_t>((k % 2 == 0 ? weight : -weight) + (k % 4 == 3 ? 0 : 128));
}
constexpr int32_t scalar_block_weight(int8_t code, int64_t k) {
  const int32_t value = k % 4 == 3 ? code : static_cast<uint8_t>(code) - 128;
  return k % 2 == 0 ? value : -value;
}
inline constexpr int64_t kScalarPixels = 3;
inline constexpr int64_t kScalarPairRows = 5;
inline constexpr int64_t kScalarQuadRows = 10;
constexpr int64_t scalar_pair_rows(const WindowGeometry& g) {
  return g.block_pixels == 4 ? kScalarQuadRows : kScalarPairRows;
}
inline constexpr int64_t kScalarInt4Rows = 4;
/// Rows of scratch of conv2d_scalar_int4; `pairs` on Armv6-M.
constexpr int64_t scalar_int4_rows(const WindowGeometry& g, bool pairs) {
  if (g.block_pixels == 0) return kScalarPixels;
  return (pairs ? scalar_pair_rows(g) : kScalarPixels) + kScalarInt4Rows;
}
constexpr int64_t scalar_depthwise_scratch(const WindowGeometry& g) {
  const int64_t taps = int64_t{g.kernel_h} * g.kernel_w;
  const int64_t more_columns = g.block_pixels == 4 ? 3 : 1;
  return g.in_c == g.out_c ? (taps + more_columns * g.kernel_h) * g.out_c
                           : taps * (g.in_c + g.out_c);
}

}  // namespace thimble::abi
