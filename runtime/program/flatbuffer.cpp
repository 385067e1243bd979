// The checks behind flatbuffer.h. Distances are compared with the room that is left before anything
// is added to a pointer; a vtable's, which has a sign, is bounded as an address.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

/// The layout of a vtable that is not the last one of its kind; a broken one has an endless extent.
const TableKind::Layout* Verifier::find(uintptr_t address, TableKind& kind) {
  for (const TableKind::Layout& known : kind.layouts_) {
    if (known.vtable == address) return kind.recent_ = &known;
  }
  static constexpr TableKind::Layout kBroken;
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(begin_);
  if (offset > room(begin_) || (offset & 1) != 0) return &kBroken;
  const Position vtable = begin_ + offset;
  const uint32_t size = load<uint16_t>(vtable);
  if (size < 4 || (size & 1) != 0 || size > room(vtable) + 4) return &kBroken;

  TableKind::Layout& layout = kind.layouts_[kind.oldest_];
  kind.oldest_ = (kind.oldest_ + 1) % TableKind::kLayouts;
  layout = {};  // a broken one must not be taken for what stood here

  uint32_t extent = 4;
  uint32_t slot = 4;
  for (uint32_t i = 0; kind.fields_[i] != 0 && slot < size; ++i, slot += 2) {
    const uint32_t distance = load<uint16_t>(vtable + slot);
    if (distance == 0) continue;
    const auto width = static_cast<uint32_t>(kind.fields_[i]);
    // No writer spreads ten fields over 256 bytes.
    if (distance > 0xFF || (distance & ((width < 4 ? width : 4) - 1)) != 0) return &kBroken;
    if (distance + width > extent) extent = distance + width;
    layout.present = static_cast<uint16_t>(layout.present | 1U << i);
    layout.at[i] = static_cast<uint8_t>(distance);
  }
  layout.extent = extent;
  layout.vtable = address;
  return kind.recent_ = &layout;
}

Position Verifier::table(Position at, TableKind& kind) { return table_at(at, kind).at; }

Position Verifier::child(Position parent, Slot slot, TableKind& kind) {
  const Position at = field(parent, slot);
  return at != nullptr ? table(at, kind) : nullptr;
}

Vector Verifier::vector(Position parent, Slot slot, uint32_t shift) {
  return vector_at(field(parent, slot), shift);
}

}  // namespace thimble::runtime
