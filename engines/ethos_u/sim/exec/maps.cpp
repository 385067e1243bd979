// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/exec/maps.h"

#include <string.h>

namespace thimble::ethos_u::sim {
namespace {

template <typename Out>
void widen(const uint8_t* bytes, const FeatureMap& map, uint32_t n, Out* out) {
  if (map.bits == 8) {
    if (map.is_signed) {
      for (uint32_t i = 0; i < n; ++i) out[i] = static_cast<int8_t>(bytes[i]);
    } else {
      for (uint32_t i = 0; i < n; ++i) out[i] = bytes[i];
    }
  } else if (map.bits == 16) {
    for (uint32_t i = 0; i < n; ++i) {
      uint16_t value;
      memcpy(&value, bytes + size_t{2} * i, 2);
      out[i] = map.is_signed ? static_cast<Out>(static_cast<int16_t>(value)) : Out{value};
    }
  } else if (map.bits == 32) {
    for (uint32_t i = 0; i < n; ++i) {
      int32_t value;
      memcpy(&value, bytes + size_t{4} * i, 4);
      out[i] = value;
    }
  } else {
    for (uint32_t i = 0; i < n; ++i) {
      int64_t value;
      memcpy(&value, bytes + size_t{8} * i, 8);
      out[i] = static_cast<Out>(value);
    }
  }
}

void narrow(const int64_t* values, uint32_t elem, uint32_t n, uint8_t* bytes) {
  for (uint32_t i = 0; i < n; ++i) memcpy(bytes + size_t{elem} * i, &values[i], elem);
}

template <typename Out>
bool load(const FeatureMap& map, Memory& memory, const ChainSlot* slot, uint32_t y, uint32_t x,
          uint32_t c, uint32_t n, Out* out) {
  if (slot != nullptr) {
    if (slot->data == nullptr || y >= slot->height || x >= slot->width ||
        uint64_t{c} + n > slot->depth) {
      memory.note(fault_of(FaultKind::kBadRegister,
                           "a chaining buffer that does not contain this feature map"));
      return false;
    }
    const uint64_t first = (uint64_t{y} * slot->width + x) * slot->depth + c;
    for (uint32_t i = 0; i < n; ++i) out[i] = slot->data[first + i];
    return true;
  }
  const uint32_t elem = map.bits / 8U;
  const uint64_t pixel = pixel_address(map, y, x);
  if (map.format == Format::kNhwc) {
    const uint8_t* bytes = memory.read(map.region, pixel + uint64_t{c} * elem, uint64_t{n} * elem);
    if (bytes == nullptr) return false;
    widen(bytes, map, n, out);
    return true;
  }
  for (uint32_t i = 0; i < n;) {
    const uint32_t inside = (c + i) % 16;
    const uint32_t run = n - i < 16 - inside ? n - i : 16 - inside;
    const uint64_t brick = pixel + static_cast<uint64_t>(int64_t{(c + i) / 16} * map.stride_c);
    const uint8_t* bytes =
        memory.read(map.region, brick + uint64_t{inside} * elem, uint64_t{run} * elem);
    if (bytes == nullptr) return false;
    widen(bytes, map, run, out + i);
    i += run;
  }
  return true;
}

}  // namespace

Reader::Reader(const FeatureMap& map, Memory& memory) : map_(map), memory_(memory) {
  if (map.storage == Storage::kChained) slot_ = &memory.chain[map.region % kChainSlots];
}

bool Reader::contiguous_bytes() const {
  return slot_ == nullptr && map_.format == Format::kNhwc && map_.bits == 8;
}

bool Reader::row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int32_t* out) {
  return load(map_, memory_, slot_, y, x, c, n, out);
}

bool Reader::row64(uint32_t y, uint32_t x, uint32_t c, uint32_t n, int64_t* out) {
  return load(map_, memory_, slot_, y, x, c, n, out);
}

Writer::Writer(const KernelOperation& operation, Memory& memory)
    : operation_(operation), map_(operation.ofm), memory_(memory) {
  if (map_.storage == Storage::kChained) slot_ = &memory.chain[map_.region % kChainSlots];
}

bool Writer::element(uint32_t y, uint32_t x, uint32_t c, int64_t value) {
  // Maps each axis of memory to an axis of the operation.
  const uint32_t at[3] = {y, x, c};
  uint32_t row = y, column = x, channel = c;
  switch (operation_.transpose) {
    case Transpose::kHwc:
      break;
    case Transpose::kWhc:
      row = at[1], column = at[0];
      break;
    case Transpose::kHcw:
      column = at[2], channel = at[1];
      break;
    case Transpose::kWch:
      row = at[1], column = at[2], channel = at[0];
      break;
    case Transpose::kChw:
      row = at[2], column = at[0], channel = at[1];
      break;
    case Transpose::kCwh:
      row = at[2], channel = at[0];
      break;
  }
  const uint32_t elem = map_.bits / 8U;
  uint64_t address = pixel_address(map_, row, column);
  if (map_.format == Format::kNhwc) {
    address += uint64_t{channel} * elem;
  } else {
    address += static_cast<uint64_t>(int64_t{channel / 16} * map_.stride_c);
    address += uint64_t{channel % 16} * elem;
  }
  uint8_t bytes[8];
  narrow(&value, elem, 1, bytes);
  return memory_.write(map_.region, address, bytes, elem);
}

bool Writer::row(uint32_t y, uint32_t x, uint32_t c, uint32_t n, const int64_t* values) {
  if (map_.storage == Storage::kNone) return true;
  if (slot_ != nullptr) {
    const uint64_t first = (uint64_t{y} * slot_->width + x) * slot_->depth + c;
    for (uint32_t i = 0; i < n; ++i) slot_->data[first + i] = static_cast<int32_t>(values[i]);
    return true;
  }
  if (operation_.reverse == Reverse::kH) y = map_.height - 1 - y;
  if (operation_.reverse == Reverse::kW) x = map_.width - 1 - x;
  if (operation_.transpose != Transpose::kHwc || operation_.reverse == Reverse::kC) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t channel = operation_.reverse == Reverse::kC ? map_.depth - 1 - c - i : c + i;
      if (!element(y, x, channel, values[i])) return false;
    }
    return true;
  }
  const uint32_t elem = map_.bits / 8U;
  const uint64_t pixel = pixel_address(map_, y, x);
  uint8_t bytes[kRow * 8];
  narrow(values, elem, n, bytes);
  if (map_.format == Format::kNhwc) {
    return memory_.write(map_.region, pixel + uint64_t{c} * elem, bytes, uint64_t{n} * elem);
  }
  for (uint32_t i = 0; i < n;) {
    const uint32_t inside = (c + i) % 16;
    const uint32_t run = n - i < 16 - inside ? n - i : 16 - inside;
    const uint64_t brick = pixel + static_cast<uint64_t>(int64_t{(c + i) / 16} * map_.stride_c);
    if (!memory_.write(map_.region, brick + uint64_t{inside} * elem, bytes + size_t{i} * elem,
                       uint64_t{run} * elem)) {
      return false;
    }
    i += run;
  }
  return c + n < map_.depth || map_.depth % 16 == 0 || fill_brick(pixel);
}

/// Fills the bytes after the last channel of a brick. The hardware writes whole bricks, and the
/// values it writes there are unknown. The fixed value exposes streams in which two maps share a
/// brick.
bool Writer::fill_brick(uint64_t pixel) {
  const uint32_t elem = map_.bits / 8U;
  const uint32_t used = map_.depth % 16;
  const uint64_t brick = pixel + static_cast<uint64_t>(int64_t{map_.depth / 16} * map_.stride_c);
  uint8_t bytes[16 * 8];
  memset(bytes, kBrickFill, sizeof bytes);
  return memory_.write(map_.region, brick + uint64_t{used} * elem, bytes,
                       uint64_t{16 - used} * elem);
}

}  // namespace thimble::ethos_u::sim
