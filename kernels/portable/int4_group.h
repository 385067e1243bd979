// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions with one tap and linear layers with weights of 4 bits in groups (abi/int4_group.h).
//
// A row of x is copied to scratch, because y may overlap the data that is read, and 8 times the sum
// of each group of x follows it: the bytes of the weights contain a + 8 (dot_int4.h). All quads of
// channels read the same sums.

#include <string.h>

#include "abi/int4_group.h"
#include "kernels/args/int4.h"

namespace thimble::kernels {

/// One row of x, for the sums of a quad of channels.
struct Int4GroupRow {
  const int8_t* x;
  const int32_t* eight_sums;
  uint32_t depth;
};

/// Adds the products of the last group, which has fewer than 32 values. Returns its end.
const uint8_t* add_last_int4_group(const Int4GroupRow& row, const uint8_t* groups,
                                   uint32_t (&sums)[4]);

struct Int4GroupLayer {
  const void* packed;
  uint32_t rows, depth, channels;
  int32_t y_zero_point, min, max;
};

/// Requantizes the sum of channel `c` of a quad.
template <class Groups>
int8_t int4_group_code(const Int4GroupLayer& layer, const abi::Int4Quad& quad, uint32_t c,
                       int32_t sum) {
  const int32_t high = Groups::high_mult(sum, quad.mult[c]);
  const int32_t shift = -quad.shift[c] & 31;
  const auto half = static_cast<int32_t>((1U << shift) >> 1);
  const int32_t scaled =
      numerics::wrap_add(numerics::wrap_add(high, high < 0 ? -1 : 0), half) >> shift;
  return static_cast<int8_t>(
      numerics::clamp(numerics::wrap_add(scaled, layer.y_zero_point), layer.min, layer.max));
}

/// `Groups` has three functions. high_mult() is that of numerics/fixed_point.h for sums less than
/// 2^30. copy_and_sum() copies a multiple of 4 values and returns their sum.
/// sums() adds the products times factors of four channels, from the packed groups, to zeros, and
/// returns the end of the groups; sums wrap.
template <class Groups>
void run_int4_group(const Int4GroupLayer& layer, const int8_t* x, int8_t* y, void* scratch) {
  auto* const row = static_cast<int8_t*>(scratch);
  auto* const eight_sums = reinterpret_cast<int32_t*>(row + layer.depth);
  for (uint32_t r = 0; r < layer.rows; ++r, x += layer.depth) {
    for (uint32_t first = 0; first < layer.depth; first += abi::kInt4Group) {
      const uint32_t rest = layer.depth - first;
      const uint32_t count = rest < abi::kInt4Group ? rest : abi::kInt4Group;
      eight_sums[first / abi::kInt4Group] = 8 * Groups::copy_and_sum(row + first, x + first, count);
    }
    const Int4GroupRow operand = {row, eight_sums, layer.depth};
    const auto* packed = static_cast<const uint8_t*>(layer.packed);
    for (uint32_t channel = 0; channel < layer.channels; channel += 4) {
      const auto& quad = *reinterpret_cast<const abi::Int4Quad*>(packed);
      uint32_t sums[4] = {};
      packed = Groups::sums(operand, packed + sizeof quad, sums);
      const uint32_t count = layer.channels - channel < 4 ? layer.channels - channel : 4;
      for (uint32_t c = 0; c < count; ++c) {
        const uint32_t sum = sums[c] + static_cast<uint32_t>(quad.bias[c]);
        *y++ = int4_group_code<Groups>(layer, quad, c, static_cast<int32_t>(sum));
      }
    }
  }
}

inline Int4GroupLayer conv2d_int4_group_layer(void* const* operands) {
  const abi::WindowGeometry& g = window_geometry(operands[1]);
  return {operands[2], uint32_t{g.out_h} * g.out_w, g.in_c, g.out_c, g.y_zero_point, g.min, g.max};
}
inline Int4GroupLayer linear_int4_group_layer(void* const* operands) {
  const abi::LinearGeometry& g = linear_geometry(operands[1]);
  return {operands[2], g.rows, g.in_features, g.out_features, g.y_zero_point, g.min, g.max};
}

template <class Groups>
void run_conv2d_int4_group(void* const* operands) {
  run_int4_group<Groups>(conv2d_int4_group_layer(operands), static_cast<const int8_t*>(operands[0]),
                         static_cast<int8_t*>(operands[4]), operands[3]);
}
template <class Groups>
void run_linear_int4_group(void* const* operands) {
  run_int4_group<Groups>(linear_int4_group_layer(operands), static_cast<const int8_t*>(operands[0]),
                         static_cast<int8_t*>(operands[4]), operands[3]);
}

}  // namespace thimble::kernels
