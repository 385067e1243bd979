// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed constants of conv2d_mve and linear_mve. Output channels are grouped in quads (four
// channels), in the order in which the Helium kernels read them.
//
//   MatmulQuad[quads]                         bias, multipliers and shifts
//   int8 weights[quads][4 * padded depth]     each quad at a multiple of 16 bytes
//   int8 read_ahead[16]                       read by the last step of a loop, not used
//
// Depth is the number of products in a sum: in_features, or kernel_h * kernel_w * in_channels in
// this order. It is padded to a multiple of 16. The weights of a quad begin with channels 0 and 2,
// then follow channels 1 and 3; the two channels alternate every 16 weights. A kernel loop computes
// the sums of two channels. Padding channels and padding depth have weights 0.
//
// conv2d_mve_int4 and linear_mve_int4 have weights of 4 bits, and otherwise the same layout: one
// byte (int4_pair, abi/int4.h) replaces the weights that channels 0 and 2, or 1 and 3, have at one
// depth.

#include <cstdint>

namespace thimble::abi {

struct MatmulQuad {
  int32_t bias[4];  // bias - x_zero_point * sum of the weights
  int32_t mult[4];
  int8_t shift[4];  // 0 or negative
};
static_assert(sizeof(MatmulQuad) == 36);

inline constexpr uint32_t kMatmulLanes = 16;
inline constexpr uint32_t kMatmulReadAhead = 16;

constexpr uint32_t matmul_quads(uint32_t channels) {
  return (channels + 3) / 4;
}
constexpr uint32_t matmul_padded(uint32_t depth) {
  return (depth + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}
/// Offset of the weights in bytes.
constexpr uint32_t matmul_header_bytes(uint32_t quads) {
  return (quads * uint32_t{sizeof(MatmulQuad)} + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}
constexpr int64_t matmul_bytes(uint32_t channels, uint32_t depth) {
  const uint32_t quads = matmul_quads(channels);
  return matmul_header_bytes(quads) + int64_t{quads} * 4 * matmul_padded(depth) + kMatmulReadAhead;
}
/// Offset of a weight in bytes, from the start of the weights.
constexpr uint32_t matmul_weight_offset(uint32_t channel, uint32_t k, uint32_t depth) {
  const uint32_t padded = matmul_padded(depth);
  const uint32_t lane = channel % 4;
  return channel / 4 * 4 * padded + lane % 2 * 2 * padded + k / kMatmulLanes * 2 * kMatmulLanes +
         lane / 2 * kMatmulLanes + k % kMatmulLanes;
}

/// Size of the constants with weights of 4 bits.
constexpr int64_t matmul_int4_bytes(uint32_t channels, uint32_t depth) {
  const uint32_t quads = matmul_quads(channels);
  return matmul_header_bytes(quads) + int64_t{quads} * 2 * matmul_padded(depth) + kMatmulReadAhead;
}
/// Offset of the byte with the weight; it is the low weight of channels 0 and 1 of a quad, and the
/// high weight of channels 2 and 3.
constexpr uint32_t matmul_int4_offset(uint32_t channel, uint32_t k, uint32_t depth) {
  const uint32_t padded = matmul_padded(depth);
  return channel / 4 * 2 * padded + channel % 2 * padded + k;
}

/// Scratch size of conv2d_mve: the windows of three pixels, and one row of a window.
constexpr int64_t conv2d_mve_scratch_bytes(uint32_t depth, uint32_t row_bytes) {
  return 3 * int64_t{matmul_padded(depth)} + matmul_padded(row_bytes);
}

}  // namespace thimble::abi
