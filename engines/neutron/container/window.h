// SPDX-License-Identifier: Apache-2.0
#pragma once
// Positions of elements at the borders of an image: the part of a sliding window that is inside,
// and mirrored positions.

#include <stdint.h>

namespace thimble::neutron {

/// Taps [from, to) of a window are inside the image; tap `from` is at input position
/// `position`.
struct Taps {
  uint32_t from;
  uint32_t to;
  uint32_t position;  // input position of tap `from`
};

/// Returns the taps of a window whose first tap is at `start`, over `size` elements.
constexpr Taps taps_at(int32_t start, uint32_t kernel, uint32_t dilation, uint32_t size) {
  const uint32_t before = start < 0 ? static_cast<uint32_t>(-start) : 0;
  const uint32_t from = (before + dilation - 1) / dilation;
  const int64_t room = int64_t{size} - start;
  if (room <= 0 || from >= kernel) return {0, 0, 0};
  const uint32_t fit = (static_cast<uint32_t>(room) + dilation - 1) / dilation;
  const uint32_t to = kernel < fit ? kernel : fit;
  if (from >= to) return {0, 0, 0};
  return {from, to, from * dilation - before + (start > 0 ? static_cast<uint32_t>(start) : 0)};
}

/// Returns the position that is mirrored at `position`; the first and last element do not repeat.
constexpr int32_t mirrored(int32_t position, int32_t size) {
  if (position < 0) return -position;
  return position < size ? position : 2 * (size - 1) - position;
}

}  // namespace thimble::neutron
