// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/fwd_stream.h"

namespace thimble::ethos_u::sim {
namespace {

constexpr uint64_t kHeaderBytes = 32;
constexpr uint32_t kTableBit = 112;  // 16 entries of nine bits; bit 0 is the sign
constexpr uint32_t kEntryBits = 9;

/// Returns `count` <= 9 bits of a complete header, starting at bit `first`.
uint32_t header_bits(const uint8_t* header, uint32_t first, uint32_t count) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t bit = first + i;
    value |= (header[bit >> 3] >> (bit & 7) & 1U) << i;
  }
  return value;
}

int32_t signed_byte(uint32_t byte) {
  return byte < 128 ? static_cast<int32_t>(byte) : static_cast<int32_t>(byte) - 256;
}

}  // namespace

WeightStatus FwdStream::begin(Bytes bytes, uint32_t core, uint32_t cores, uint32_t piece) {
  *this = {};
  bytes_ = bytes;
  core_ = core;
  cores_ = cores;
  piece_ = piece;
  if (bytes.size < kHeaderBytes) return WeightStatus::kTruncated;
  const bool raw = header_bits(bytes.data, 0, 1) != 0;
  const bool small = header_bits(bytes.data, 1, 1) != 0;
  if (raw && small) return WeightStatus::kBadSlice;
  for (uint32_t bit = 2; bit < 104; ++bit) {
    if (header_bits(bytes.data, bit, 1) != 0) return WeightStatus::kBadSlice;
  }
  width_ = raw ? 8 : small ? 2 : 4;
  adjust_ = signed_byte(header_bits(bytes.data, 104, 8));
  for (uint32_t i = 0; i < 16; ++i) {
    const uint32_t folded = header_bits(bytes.data, kTableBit + kEntryBits * i, kEntryBits);
    const auto magnitude = static_cast<int16_t>(folded >> 1);
    table_[i] = (folded & 1U) != 0 ? static_cast<int16_t>(-magnitude) : magnitude;
  }
  return WeightStatus::kOk;
}

WeightStatus FwdStream::next(int32_t* weight) {
  const uint64_t place = (position_ / piece_ * cores_ + core_) * piece_ + position_ % piece_;
  const uint64_t bit = place * width_;
  const uint64_t byte = kHeaderBytes + (bit >> 3);
  if (byte >= bytes_.size) return WeightStatus::kTruncated;
  ++position_;
  const uint32_t code = bytes_.data[byte] >> (bit & 7) & ((1U << width_) - 1U);
  *weight = width_ == 8 ? signed_byte(code) - adjust_ : table_[code];
  return *weight < -255 || *weight > 255 ? WeightStatus::kBadValue : WeightStatus::kOk;
}

WeightStatus FwdStream::finish() const {
  const uint64_t used = kHeaderBytes + (position_ * cores_ * width_ + 7) / 8;
  return (used + 31) / 32 * 32 < bytes_.size ? WeightStatus::kTrailing : WeightStatus::kOk;
}

}  // namespace thimble::ethos_u::sim
