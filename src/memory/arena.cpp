// SPDX-License-Identifier: Apache-2.0
#include "memory/arena.h"

#include <algorithm>

#include "memory/lowest_offset.h"

namespace thimble::memory {

std::optional<int64_t> Arena::allocate(const Buffer& buffer) {
  std::vector<ForbiddenOffsets> forbidden;
  for (const PlacedBuffer& other : placed_) {
    if (!other.buffer.life.overlaps(buffer.life)) continue;
    forbidden.push_back({other.offset - buffer.bytes, other.offset + other.buffer.bytes});
  }
  const int64_t offset = lowest_offset(forbidden);
  if (offset + buffer.bytes > limit_bytes_) return {};
  add({buffer, offset});
  return offset;
}

void Arena::release(const PlacedBuffer& placed) {
  const auto found = std::ranges::find(placed_, placed);
  if (found != placed_.end()) placed_.erase(found);
}

bool Arena::is_shared(const PlacedBuffer& placed, int step) const {
  return std::ranges::any_of(placed_, [&](const PlacedBuffer& other) {
    return other != placed && other.buffer.life.contains(step) &&
           other.offset < placed.offset + placed.buffer.bytes &&
           placed.offset < other.offset + other.buffer.bytes;
  });
}

int64_t Arena::peak_bytes() const {
  int64_t peak = 0;
  for (const PlacedBuffer& placed : placed_) {
    peak = std::max(peak, placed.offset + placed.buffer.bytes);
  }
  return peak;
}

}  // namespace thimble::memory
