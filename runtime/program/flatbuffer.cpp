// The checks of flatbuffer.h. A distance is compared with the remaining bytes before it is added to
// a pointer. The distance to a vtable is signed, so its target is bounded as an integer address.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

/// The layout of a vtable other than kind.recent_. An invalid vtable gets a reach that no table
/// has.
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
  layout = TableKind::kBroken;  // invalidates the overwritten cache entry
  uint32_t extent = 4;
  uint32_t wrong = 0;
  uint8_t* at = layout.at;
  const char* width_at = kind.fields_;
  for (uint32_t slot = 4; slot < size && *width_at != 0; slot += 2, ++width_at, ++at) {
    const uint32_t distance = load<uint16_t>(vtable + slot);
    if (distance == 0) continue;
    const auto width = static_cast<uint32_t>(*width_at);
    wrong |= distance >> 8;  // no writer uses more than 256 bytes for ten fields
    wrong |= distance & (width - 1) & 3;
    if (distance + width > extent) extent = distance + width;
    *at = static_cast<uint8_t>(distance);
  }
  if (wrong != 0) return &TableKind::kBroken;
  layout.extent_bytes = extent - 4;
  layout.vtable = address;
  TableKind::Layout* const behind = &layout + 1;
  if (behind > kind.end_) kind.end_ = behind;
  kind.next_ = behind == kind.layouts_ + TableKind::kLayouts ? kind.layouts_ : behind;
  return kind.recent_ = &layout;
}

Position Verifier::table(Position at, TableKind& kind) {
  return table_at(at, kind).at;
}

Position Verifier::child(Position parent, Slot slot, TableKind& kind) {
  const Position at = field(parent, slot);
  return at != nullptr ? table(at, kind) : nullptr;
}

Vector Verifier::vector(Position parent, Slot slot, uint32_t shift) {
  return vector_at(field(parent, slot), shift);
}

}  // namespace thimble::runtime
