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

// Loading is mostly calls of three or four short functions here. At -Os the compiler would keep them
// out of line, which doubles the instructions of a load to save a few hundred bytes.
#if defined(__GNUC__)
#define THIMBLE_INLINE [[gnu::always_inline]] inline
#else
#define THIMBLE_INLINE inline
#endif

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
THIMBLE_INLINE Position field(Position table, Slot slot) {
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

/// What a kind of table is, and the last vtables that were found right for it. The tables of a file
/// share a few vtables, so nearly every table costs a compare instead of a walk.
class TableKind {
 public:
  struct Layout {
    uint32_t vtable = 1;       // offset in the file; odd: none
    uint16_t extent = 0xFFFF;  // from the start of a table to the end of its last field
    uint16_t present = 0;      // bit i: field i is there
    uint16_t first = 0;        // where fields 0 and 1 are; 0 if absent
    uint16_t second = 0;
  };

  /// `fields`: how many bytes each field has, in the order of their slots.
  constexpr explicit TableKind(const char* fields) : fields_(fields) {}

 private:
  friend class Verifier;
  static constexpr uint32_t kLayouts = 3;
  const char* fields_;
  uint32_t oldest_ = 0;
  Layout layouts_[kLayouts];
};

/// Checked access. A broken rule makes `failed()` true for good and the answer null, which reads as
/// absent: callers look at failed() where a loop or a decision ends, not after each step. Fields of
/// a table that was answered are read with the free functions above.
class Verifier {
 public:
  Verifier() = default;
  Verifier(Position begin, uint32_t bytes) : begin_(begin), bytes_(bytes) {}

  bool failed() const { return failed_; }

  /// The table that the offset at `at` (verified) points to: all its fields lie in the program.
  Position table(Position at, TableKind& kind);
  /// The same, for the hot places, with the layout of the table.
  Position table(Position at, TableKind& kind, const TableKind::Layout*& layout);
  /// A table in a field of a verified table; null if it is absent.
  Position child(Position table, Slot slot, TableKind& kind);
  /// A vector of items of 1 << `shift` bytes in a field of a verified table.
  Vector vector(Position table, Slot slot, uint32_t shift);

 private:
  Position target(Position at);
  const TableKind::Layout* find(uint32_t vtable, TableKind& kind);
  Position fail() {
    failed_ = true;
    return nullptr;
  }
  uint32_t offset(Position at) const { return static_cast<uint32_t>(at - begin_); }

  Position begin_ = nullptr;
  uint32_t bytes_ = 0;  // below 2^31
  bool failed_ = false;
};

THIMBLE_INLINE Position Verifier::target(Position at) {
  const uint32_t distance = load<uint32_t>(at);
  // The target starts with a word of its own: a table's vtable distance or a vector's count.
  if (distance > bytes_ - 4 - offset(at) || (distance & 3) != 0) return fail();
  return at + distance;
}

THIMBLE_INLINE Position Verifier::table(Position at, TableKind& kind,
                                        const TableKind::Layout*& layout) {
  const Position table = target(at);
  if (table == nullptr) return nullptr;
  const uint32_t start = offset(table);
  const uint32_t vtable = start - load<uint32_t>(table);
  layout = kind.layouts_;
  if (layout->vtable != vtable) layout = find(vtable, kind);
  return layout->extent <= bytes_ - start ? table : fail();
}

}  // namespace thimble::runtime
