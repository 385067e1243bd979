#pragma once
// Where a window that slides over an image meets it.

#include <stdint.h>

namespace thimble::neutron {

/// Taps [from, to) of a window have an input position; tap `from` has position `at`.
struct Taps {
  uint32_t from;
  uint32_t to;
  uint32_t at;
};

/// Of a window whose first tap is at `start`, over `size` elements.
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
