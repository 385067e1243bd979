#pragma once
// The part of a sliding window that is inside the image.

#include <stdint.h>

namespace thimble::neutron {

/// Taps [from, to) of a window are inside the image; tap `from` is at input position `at`.
struct Taps {
  uint32_t from;
  uint32_t to;
  uint32_t at;
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

}  // namespace thimble::neutron
