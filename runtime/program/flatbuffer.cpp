// SPDX-License-Identifier: Apache-2.0
// The checks of flatbuffer.h. A distance is compared with the remaining bytes before it is added to
// a pointer. The distance to a vtable is signed, so its target is bounded as an integer address.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

/// Finds the layout of a vtable in the cache, or verifies the vtable. Returns kBroken for an
/// invalid vtable.
const TableKind::Layout* Verifier::find_layout(uintptr_t address, TableKind& kind) {
  for (const TableKind::Layout* known = kind.layouts_; known != kind.end_; ++known) {
    if (known->vtable == address) return kind.recent_ = known;
  }
  return verify_vtable(address, kind);
}

const TableKind::Layout* Verifier::verify_vtable(uintptr_t address, TableKind& kind) {
  const uintptr_t offset = address - reinterpret_cast<uintptr_t>(begin_);
  if (offset > bytes_after(begin_) || (offset & 1) != 0) return &TableKind::kBroken;
  const Position vtable = begin_ + offset;
  const uint32_t size = read<uint16_t>(vtable);
  if (size < 4 || (size & 1) != 0 || size > bytes_after(vtable) + 4) return &TableKind::kBroken;

  TableKind::Layout& layout = *kind.next_;
  layout = TableKind::kBroken;  // invalidates the overwritten cache entry
  uint32_t extent = 4;
  uint32_t wrong = 0;
  uint8_t* at = layout.at;
  const char* width_at = kind.fields_;
  for (uint32_t slot = 4; slot < size && *width_at != 0; slot += 2, ++width_at, ++at) {
    const uint32_t distance = read<uint16_t>(vtable + slot);
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
  TableKind::Layout* const after = &layout + 1;
  if (after > kind.end_) kind.end_ = after;
  kind.next_ = after == kind.layouts_ + TableKind::kLayouts ? kind.layouts_ : after;
  return kind.recent_ = &layout;
}

Position Verifier::table(Position at, TableKind& kind) {
  return table_at(at, kind).at;
}

Position Verifier::child(Position parent, VtableOffset slot, TableKind& kind) {
  const Position at = field(parent, slot);
  return at != nullptr ? table(at, kind) : nullptr;
}

FlatVector Verifier::vector(Position parent, VtableOffset slot, uint32_t shift) {
  return vector_at(field(parent, slot), shift);
}

}  // namespace thimble::runtime
