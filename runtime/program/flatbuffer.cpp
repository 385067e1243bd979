// The checks behind flatbuffer.h. Distances are compared with the room that is left before anything
// is added to a pointer; a vtable's, which has a sign, is bounded as an address.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

/// The layout of a vtable that is not the last one of its kind; a broken one has an endless reach.
const TableKind::Layout* Verifier::find(uintptr_t address, TableKind& kind) {
  for (const TableKind::Layout* known = kind.layouts_; known != kind.end_; ++known) {
    if (known->vtable == address) return kind.recent_ = known;
  }
  return learn(address, kind);
}

const TableKind::Layout* Verifier::learn(uintptr_t address, TableKind& kind) {
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(begin_);
  if (offset > room(begin_) || (offset & 1) != 0) return &TableKind::kBroken;
  const Position vtable = begin_ + offset;
  const uint32_t size = load<uint16_t>(vtable);
  if (size < 4 || (size & 1) != 0 || size > room(vtable) + 4) return &TableKind::kBroken;

  TableKind::Layout& layout = *kind.next_;
  layout = TableKind::kBroken;  // which must not be taken for what stood here
  uint32_t extent = 4;
  uint32_t wrong = 0;
  uint8_t* at = layout.at;
  const char* width_at = kind.fields_;
  for (uint32_t slot = 4; slot < size && *width_at != 0; slot += 2, ++width_at, ++at) {
    const uint32_t distance = load<uint16_t>(vtable + slot);
    if (distance == 0) continue;
    const auto width = static_cast<uint32_t>(*width_at);
    wrong |= distance >> 8;  // no writer spreads ten fields over 256 bytes
    wrong |= distance & (width - 1) & 3;
    if (distance + width > extent) extent = distance + width;
    *at = static_cast<uint8_t>(distance);
  }
  if (wrong != 0) return &TableKind::kBroken;
  layout.reach = extent - 4;
  layout.vtable = address;
  TableKind::Layout* const behind = &layout + 1;
  if (behind > kind.end_) kind.end_ = behind;
  kind.next_ = behind == kind.layouts_ + TableKind::kLayouts ? kind.layouts_ : behind;
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
