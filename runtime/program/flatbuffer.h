// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checked and unchecked access to a flatbuffer. `Verifier` proves once, at load, that a table,
// field or vector is inside the program and aligned. The free functions then read without checks.
// Every address that the free functions reach has been reached by the verifier, by the same path.
//
// Positions are pointers into the file, which starts at a multiple of 16, so the alignment of a
// pointer is the alignment of its offset. 64-bit numbers need only 4-byte alignment here, because
// the core loads them as two words.

#include <string.h>
#include <cstddef>
#include <cstdint>

#include "abi/pte_format.h"
#include "runtime/program/inline.h"

namespace thimble::runtime {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flatbuffers are read in place");

using Position = const uint8_t*;
using abi::pte::VtableOffset;

template <typename T>
inline T read(Position at) {
  T value;
  memcpy(&value, __builtin_assume_aligned(at, sizeof(T) < 4 ? sizeof(T) : 4), sizeof value);
  return value;
}

/// Target of the offset at `at`.
inline Position follow(Position at) {
  return at + read<uint32_t>(at);
}

/// The field of a table, or null if it is absent.
THIMBLE_INLINE Position field(Position table, VtableOffset slot) {
  const Position vtable = table - read<int32_t>(table);
  if (slot >= read<uint16_t>(vtable)) return nullptr;
  const uint32_t distance = read<uint16_t>(vtable + slot);
  return distance != 0 ? table + distance : nullptr;
}

template <typename T>
inline T read_field(Position table, VtableOffset slot) {
  const Position at = field(table, slot);
  return at != nullptr ? read<T>(at) : T{};
}

/// An empty vector, for absent and invalid ones.
alignas(4) inline constexpr uint8_t kNoItems[4] = {};

/// A flatbuffer vector. `at` is the position of its count, which the items follow. An absent or
/// invalid vector is empty.
struct FlatVector {
  Position at = kNoItems;

  THIMBLE_INLINE uint32_t count() const { return read<uint32_t>(at); }
  THIMBLE_INLINE Position item(uint32_t index, uint32_t item_bytes) const {
    return at + 4 + index * item_bytes;
  }
  /// Target of an item of a vector of offsets.
  Position target(uint32_t index) const { return follow(item(index, 4)); }
  /// Item of a vector of int32 indices.
  THIMBLE_INLINE uint32_t index_at(uint32_t i) const { return read<uint32_t>(item(i, 4)); }
};

inline FlatVector vector(Position table, VtableOffset slot) {
  const Position at = field(table, slot);
  return at != nullptr ? FlatVector{follow(at)} : FlatVector{};
}

/// A table that is read through its vtable.
struct Table {
  Position at;
  Position vtable;
  uint32_t vtable_bytes;
  THIMBLE_INLINE explicit Table(Position table)
      : at(table), vtable(at - read<int32_t>(at)), vtable_bytes(read<uint16_t>(vtable)) {}
  THIMBLE_INLINE Position field(VtableOffset slot) const {
    const uint32_t distance = slot < vtable_bytes ? read<uint16_t>(vtable + slot) : 0;
    return distance != 0 ? at + distance : nullptr;
  }
};

/// Field widths of a kind of table, and a cache of its last verified vtables. The tables of a file
/// share a few vtables, so nearly every table costs one comparison instead of a check of all
/// fields. Fields are then read through the cached layout.
class TableKind {
 public:
  static constexpr uint32_t kFieldsMax = 12;
  struct Layout {
    uintptr_t vtable;        // its address
    uint32_t extent_bytes;   // bytes from after the table's first word to the end of its last field
    uint8_t at[kFieldsMax];  // offset of field i; 0 if absent
  };
  /// Layout of an invalid vtable. No vtable is at address 0, and no table has this extent, so every
  /// check fails.
  static constexpr Layout kBroken = {0, 0xFFFFFFFF, {}};

  /// `fields`: width in bytes of each field, in the order of their slots.
  explicit TableKind(const char* fields) : fields_(fields) {}
  TableKind(const TableKind&) = delete;
  TableKind& operator=(const TableKind&) = delete;

 private:
  friend class Verifier;
  static constexpr uint32_t kLayouts = 4;
  const char* fields_;
  const Layout* recent_ = &kBroken;  // consecutive tables often have the same vtable
  Layout* next_ = layouts_;          // entry that is overwritten next
  Layout* end_ = layouts_;           // end of the valid entries
  Layout layouts_[kLayouts];
};

/// Index of a field in its table.
constexpr uint32_t index_of(VtableOffset field) {
  return (field - 4U) / 2;
}

/// A verified table that is read through the cached layout of its vtable; null if it is invalid.
struct CheckedTable {
  Position at = nullptr;
  const TableKind::Layout* layout = nullptr;
  THIMBLE_INLINE Position field(VtableOffset slot) const {
    const uint32_t distance = layout->at[index_of(slot)];
    return distance != 0 ? at + distance : nullptr;
  }
};

/// A field of a Table or CheckedTable; 0 if it is absent.
template <typename T, typename AnyTable>
THIMBLE_INLINE T read_field(const AnyTable& table, VtableOffset slot) {
  const Position at = table.field(slot);
  return at != nullptr ? read<T>(at) : T{};
}

/// Checked access. After a violation failed() returns true permanently, and the result is null or
/// empty, as for an absent field. Callers test failed() at the end of a loop or before a decision,
/// not after each step. Fields of a returned table are read with the free functions above.
class Verifier {
 public:
  Verifier() = default;
  Verifier(Position begin, uint32_t bytes) : begin_(begin), last_word_(begin + bytes - 4) {}

  bool failed() const { return failed_; }

  /// The table at the target of the verified offset at `at`. All its fields are inside the program.
  Position table(Position at, TableKind& kind);
  /// Same as table(), inlined, and with the cached layout, for tables of which fields are read
  /// often.
  CheckedTable table_at(Position at, TableKind& kind);
  /// A table in a field of a verified table; null if it is absent.
  Position child(Position table, VtableOffset slot, TableKind& kind);
  /// A vector of items of 1 << `shift` bytes in a field of a verified table.
  FlatVector vector(Position table, VtableOffset slot, uint32_t shift);
  /// The vector at the target of the offset at `at`, which may be null.
  FlatVector vector_at(Position at, uint32_t shift);

 private:
  Position target(Position at);
  const TableKind::Layout* find_layout(uintptr_t vtable, TableKind& kind);
  THIMBLE_OUT_OF_LINE const TableKind::Layout* verify_vtable(uintptr_t vtable, TableKind& kind);
  Position fail() {
    failed_ = true;
    return nullptr;
  }
  /// Bytes after the word at `at`. `at` must be at or before last_word_.
  uint32_t bytes_after(Position at) const { return static_cast<uint32_t>(last_word_ - at); }

  Position begin_ = nullptr;
  Position last_word_ = nullptr;  // last position at which a word fits
  bool failed_ = false;
};

THIMBLE_INLINE Position Verifier::target(Position at) {
  const uint32_t distance = read<uint32_t>(at);
  // The target starts with a word: a table's vtable distance or a vector's count.
  if (distance > bytes_after(at) || (distance & 3) != 0) return fail();
  return at + distance;
}

THIMBLE_INLINE CheckedTable Verifier::table_at(Position at, TableKind& kind) {
  const Position table = target(at);
  if (table == nullptr) return {};
  // The distance is unverified until find_layout() returns, so it is an integer and not a pointer.
  const uintptr_t vtable =
      reinterpret_cast<uintptr_t>(table) - static_cast<uintptr_t>(read<int32_t>(table));
  const TableKind::Layout* layout = kind.recent_;
  if (layout->vtable != vtable) layout = find_layout(vtable, kind);
  return {layout->extent_bytes <= bytes_after(table) ? table : fail(), layout};
}

THIMBLE_INLINE FlatVector Verifier::vector_at(Position at, uint32_t shift) {
  if (at == nullptr) return {};
  const Position items = target(at);
  if (items != nullptr && read<uint32_t>(items) <= bytes_after(items) >> shift) return {items};
  fail();
  return {};
}

}  // namespace thimble::runtime
