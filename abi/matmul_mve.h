#pragma once
// Packed constants of conv2d_mve and linear_mve: output channels by fours, as Helium's kernels read
// them from front to back.
//
//   MatmulQuad[quads]                         bias, multipliers and shifts
//   int8 weights[quads][4 * padded depth]     each four at a multiple of 16 bytes
//
// Depth is the number of products of a sum: in_features, or kernel_h * kernel_w * in_channels in
// this order; padded to a multiple of 16. Of a quad come first channels 0 and 2, then 1 and 3: of
// both in turn 16 weights at a time. A sum of four channels is then two loops, each of which leaves
// two lanes that one instruction moves. Channels and depth that are only padding have weights 0.

#include <cstdint>

namespace thimble::abi {

struct MatmulQuad {
  int32_t bias[4];  // less the zero point of x times the sum of the weights
  int32_t mult[4];
  int8_t shift[4];  // 0 or negative
};
static_assert(sizeof(MatmulQuad) == 36);

inline constexpr uint32_t kMatmulLanes = 16;

constexpr uint32_t matmul_quads(uint32_t channels) {
  return (channels + 3) / 4;
}
constexpr uint32_t matmul_padded(uint32_t depth) {
  return (depth + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}
/// Where the weights begin.
constexpr uint32_t matmul_head_bytes(uint32_t quads) {
  return (quads * uint32_t{sizeof(MatmulQuad)} + kMatmulLanes - 1) / kMatmulLanes * kMatmulLanes;
}
constexpr int64_t matmul_bytes(uint32_t channels, uint32_t depth) {
  const uint32_t quads = matmul_quads(channels);
  return matmul_head_bytes(quads) + int64_t{quads} * 4 * matmul_padded(depth);
}
/// Of a weight, from where the weights begin.
constexpr uint32_t matmul_place(uint32_t channel, uint32_t k, uint32_t depth) {
  const uint32_t padded = matmul_padded(depth);
  const uint32_t lane = channel % 4;
  return channel / 4 * 4 * padded + lane % 2 * 2 * padded + k / kMatmulLanes * 2 * kMatmulLanes +
         lane / 2 * kMatmulLanes + k % kMatmulLanes;
}

/// Scratch of conv2d_mve: the windows of three pixels, and a row of one.
constexpr int64_t conv2d_mve_scratch_bytes(uint32_t depth, uint32_t row_bytes) {
  return 3 * int64_t{matmul_padded(depth)} + matmul_padded(row_bytes);
}

}  // namespace thimble::abi
