// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packed constants of conv2d_int4_group and linear_int4_group: weights of 4 bits with a factor for
// each 32 weights of an output channel (attribute weight_group). One form for all cores.
//
// Output channels are grouped in quads (four channels); missing channels have weights, biases and
// multipliers 0. For each quad:
//   Int4Quad
//   for each group of 32 values of the depth:
//     uint8 factor[4]     1 to 15 by channel
//     uint8 pairs[2][n]   byte k is int4_offset_pair() (abi/int4.h) of the weights of channels 0
//                         and 1, then of channels 2 and 3; n is 32, or the rest in the last group
// Depth is in_features, or in_c of a 1x1 convolution; a multiple of 4.
//
// 16 bytes follow that the kernels for Helium read and do not use.
//
// The weight of a channel at depth k is factor[channel] times the weight in [-8, 7], so it is in
// [-120, 105]: sums have the bounds of weights with 8 bits. With bias, they are less than 2^30.
// With c = high_mult(sum, mult) the result is (c + (c < 0 ? -1 : 0) + 2^(-shift - 1)) >> -shift
// plus the zero point of y, clamped: requantize() of docs/numerics.md.

#include <cstdint>

#include "abi/params/linear.h"
#include "abi/params/window.h"

namespace thimble::abi {

struct Int4Quad {
  int32_t bias[4];  // bias - x_zero_point * sum of the weights
  int32_t mult[4];
  int8_t shift[4];  // -31 to -1
};
static_assert(sizeof(Int4Quad) == 36);

inline constexpr uint32_t kInt4Group = 32;
inline constexpr uint32_t kInt4ReadAhead = 16;
inline constexpr int32_t kInt4FactorMax = 15;
inline constexpr int64_t kInt4SumLimit = int64_t{1} << 30;

constexpr int64_t int4_groups(int64_t depth) {
  return (depth + kInt4Group - 1) / kInt4Group;
}
constexpr int64_t int4_group_bytes(int64_t channels, int64_t depth) {
  return (channels + 3) / 4 * (int64_t{sizeof(Int4Quad)} + 4 * int4_groups(depth) + 2 * depth) +
         kInt4ReadAhead;
}

/// Scratch size of both operators: three rows or pixels of x, each padded to a multiple of 16. The
/// kernels for cores without Helium store one row and the sums of its groups there.
inline constexpr int64_t kInt4GroupRows = 3;
constexpr int64_t int4_group_scratch_bytes(int64_t depth) {
  return kInt4GroupRows * ((depth + 15) / 16 * 16);
}

/// Returns true for the windows of conv2d_int4_group: one tap, stride 1, no padding.
constexpr bool is_pointwise(const WindowGeometry& g) {
  return g.kernel_h == 1 && g.kernel_w == 1 && g.stride_h == 1 && g.stride_w == 1 &&
         g.pad_top == 0 && g.pad_left == 0 && g.in_h == g.out_h && g.in_w == g.out_w;
}

}  // namespace thimble::abi
