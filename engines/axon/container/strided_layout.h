// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory layout of operands, and tests whether a copy between two layouts would move nothing.

#include "engines/axon/container/layers.h"

namespace thimble::axon {

/// Dimensions in memory order.
enum class Dimension : uint8_t { kN, kC, kH, kW };
inline constexpr uint32_t kDimensions = 4;

struct Extents {
  uint32_t of[kDimensions];
};

/// A strided layout: element [n][c][h][w] is at offset + n * step[0] + c * step[1] + h * step[2] +
/// w * step[3].
struct StridedLayout {
  uint32_t offset;
  uint32_t step[kDimensions];
};

inline Extents extents_of(const Operand& operand) {
  return {{operand.n, operand.c, operand.h, operand.w}};
}

inline StridedLayout layout_of(const Operand& operand) {
  const uint32_t plane = operand.h * operand.row_stride;
  return {operand.offset,
          {operand.c * plane, plane, operand.row_stride, uint32_t{operand.element_bytes}}};
}

inline uint32_t dimension_of(Axis axis) {
  return static_cast<uint32_t>(axis) + 1;
}

/// Returns true if both access the same bytes in the same order.
inline bool is_same(const StridedLayout& a, const StridedLayout& b, const Extents& extents) {
  if (a.offset != b.offset) return false;
  for (uint32_t i = 0; i < kDimensions; ++i) {
    if (extents.of[i] > 1 && a.step[i] != b.step[i]) return false;
  }
  return true;
}

/// Returns the layout of the part of a concat's output that begins at `start` along `axis`.
inline StridedLayout piece_of(const Operand& output, Axis axis, uint32_t start) {
  StridedLayout walk = layout_of(output);
  walk.offset += start * walk.step[dimension_of(axis)];
  return walk;
}

inline int32_t int_at(const uint8_t* at) {
  int32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

/// Returns the layout of a strided slice; `attributes` are begin, end and stride, each C, H, W.
inline StridedLayout slice_of(const Operand& input, const uint8_t* attributes) {
  StridedLayout walk = layout_of(input);
  for (uint32_t i = 0; i < 3; ++i) {
    const auto begin = static_cast<uint32_t>(int_at(attributes + 4 * i));
    const auto stride = static_cast<uint32_t>(int_at(attributes + 24 + 4 * i));
    walk.offset += begin * walk.step[i + 1];
    walk.step[i + 1] *= stride;
  }
  return walk;
}

/// Returns true if the elements of both, in logical order, are the same bytes.
inline bool is_same_sequence(const Operand& a, const Operand& b) {
  if (a.source != b.source || a.offset != b.offset) return false;
  const auto dense = [](const Operand& operand) {
    return uint32_t{operand.n} * operand.c * operand.h == 1 ||
           operand.row_stride == uint32_t{operand.w} * operand.element_bytes;
  };
  return (a.w == b.w && a.row_stride == b.row_stride) || (dense(a) && dense(b));
}

}  // namespace thimble::axon
