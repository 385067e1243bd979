// SPDX-License-Identifier: Apache-2.0
#pragma once
// Access to feature maps in memory, in every format: rows of channels at one position.

#include <stdint.h>

#include "engines/ethos_u/sim/memory.h"
#include "engines/ethos_u/sim/operation.h"

namespace thimble::ethos_u::sim {

/// Returns the address of element (y, x, 0) of the map.
[[nodiscard]] inline uint64_t pixel_address(const FeatureMap& map, uint32_t y, uint32_t x) {
  uint32_t tile = 0;
  if (map.storage == Storage::kTile3x1) {
    // TILE3X1: three tiles, one above the other.
    if (y >= map.height0 + map.height1) {
      y -= map.height0 + map.height1;
      tile = 2;
    } else if (y >= map.height0) {
      y -= map.height0;
      tile = 1;
    }
  } else if (x >= map.width0) {
    x -= map.width0;
    tile = 1;
    if (y >= map.height1) {
      y -= map.height1;
      tile = 3;
    }
  } else if (y >= map.height0) {
    y -= map.height0;
    tile = 2;
  }
  return map.base[tile] + static_cast<uint64_t>(y * map.stride_y + x * map.stride_x);
}

/// Reads a map from memory, or a chained map from its slot. Values include the zero point.
class Reader {
 public:
  Reader(const FeatureMap& map, Memory& memory);
  /// Reads channels [c, c + n) of one position. If it returns false, memory.fault() has the reason.
  bool row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int32_t* out);
  bool row64(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* out);
  /// Returns true if the map's channels are consecutive bytes; bytes() is then available.
  [[nodiscard]] bool contiguous_bytes() const;
  const uint8_t* bytes(uint32_t y, uint32_t x, uint32_t c, uint32_t n) {
    return memory_.read(map_.region, pixel_address(map_, y, x) + c, n);
  }
  [[nodiscard]] const FeatureMap& map() const { return map_; }

 private:
  const FeatureMap& map_;
  Memory& memory_;
  const ChainSlot* slot_ = nullptr;
};

/// Writes an OFM to memory or to its slot, transposed and reversed as the operation specifies.
class Writer {
 public:
  Writer(const KernelOperation& operation, Memory& memory);
  /// Writes channels [c, c + n) of one position, n <= kRow.
  bool row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values);

 private:
  bool fill_brick(uint64_t pixel);
  bool element(uint32_t y, uint32_t x, uint32_t c, int64_t value);

  const KernelOperation& operation_;
  const FeatureMap& map_;
  Memory& memory_;
  ChainSlot* slot_ = nullptr;
};

/// Value of the bytes of a brick after the last channel.
inline constexpr uint8_t kBrickFill = 0x5A;

/// Number of channels computed at a time, where weights do not determine it.
inline constexpr uint32_t kRow = 32;

}  // namespace thimble::ethos_u::sim
