#pragma once
// Flatbuffer access in two voices. `Verifier` proves, once at load, that a table, field or vector
// lies inside the program and is aligned; the free functions below then read without checking.
// Every address that the free functions reach was reached by the verifier before, by the same path.
//
// Positions are pointers into the file, which starts at a multiple of 16, so the alignment of a
// pointer is the alignment of its offset. 64-bit numbers need only 4-byte alignment here: the core
// loads them as two words anyway.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "abi/pte_format.h"

namespace thimble::runtime {

static_assert(std::endian::native == std::endian::little, "flatbuffers are read in place");

using Position = const uint8_t*;
using abi::pte::Slot;

template <typename T>
inline T load(Position at) {
  T value;
  std::memcpy(&value, std::assume_aligned<(sizeof(T) < 4 ? sizeof(T) : 4)>(at), sizeof value);
  return value;
}

/// Where the offset at `at` points.
inline Position follow(Position at) { return at + load<uint32_t>(at); }

/// The field of a table, or null if it is absent.
inline Position field(Position table, Slot slot) {
  const Position vtable = table - load<int32_t>(table);
  if (slot >= load<uint16_t>(vtable)) return nullptr;
  const uint32_t distance = load<uint16_t>(vtable + slot);
  return distance != 0 ? table + distance : nullptr;
}

template <typename T>
inline T scalar(Position table, Slot slot) {
  const Position at = field(table, slot);
  return at != nullptr ? load<T>(at) : T{};
}

/// A vector is the position of its count; an absent one is empty.
struct Vector {
  Position at = nullptr;

  uint32_t count() const { return at != nullptr ? load<uint32_t>(at) : 0; }
  Position item(uint32_t index, uint32_t item_bytes) const { return at + 4 + index * item_bytes; }
  /// Of a vector of offsets.
  Position target(uint32_t index) const { return follow(item(index, 4)); }
  /// Of a vector of int32 indices.
  uint32_t index(uint32_t i) const { return load<uint32_t>(item(i, 4)); }
};

inline Vector vector(Position table, Slot slot) {
  const Position at = field(table, slot);
  return at != nullptr ? Vector{follow(at)} : Vector{};
}

/// Checked access. A broken rule makes `failed()` true for good and the answer null, which reads as
/// absent: callers look at failed() where a loop or a decision ends, not after each step.
class Verifier {
 public:
  Verifier(Position begin, uint32_t bytes) : begin_(begin), bytes_(bytes) {}

  bool failed() const { return failed_; }

  /// The table that the offset at `at` (verified) points to.
  Position table(Position at);
  /// A field of a verified table, `bytes` (1, 2, 4 or 8) long.
  Position field(Position table, Slot slot, uint32_t bytes);
  Position child(Position table, Slot slot);
  /// A vector of items of 1 << `shift` bytes.
  Vector vector(Position table, Slot slot, uint32_t shift);

  template <typename T>
  T scalar(Position table, Slot slot) {
    const Position at = field(table, slot, sizeof(T));
    return at != nullptr ? load<T>(at) : T{};
  }

 private:
  Position target(Position at);
  Position fail() {
    failed_ = true;
    return nullptr;
  }
  uint32_t offset(Position at) const { return static_cast<uint32_t>(at - begin_); }

  Position begin_;
  uint32_t bytes_;  // below 2^31
  bool failed_ = false;
};

}  // namespace thimble::runtime
