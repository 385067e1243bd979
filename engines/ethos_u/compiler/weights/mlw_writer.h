// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes slices as bits.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engines/ethos_u/compiler/weights/mlw_code.h"

namespace thimble::engine::ethos_u::mlw {

/// Writes bits, the least significant bit of a byte first.
class BitWriter {
 public:
  void put(uint32_t value, int count);
  /// Returns all bytes written so far, padded to a multiple of `bytes`.
  [[nodiscard]] std::vector<std::byte> finish(size_t bytes, std::byte fill);

 private:
  std::vector<std::byte> bytes_;
  uint64_t pending_ = 0;
  int pending_bits_ = 0;
};

struct Slice {
  const Palette* palette = nullptr;
  bool new_palette = false;
  Mode mode;
  std::span<const uint16_t> indices;  // at most kMaxSlice
  std::span<const uint32_t> runs;     // zeros after each index; new palette: also before the first
};
void write_slice(const Slice& slice, BitWriter* bits);
void write_end(BitWriter* bits);

}  // namespace thimble::engine::ethos_u::mlw
