// The checks behind flatbuffer.h. All arithmetic is on offsets below 2^31, so that no sum of two
// wraps; vtable distances are signed in the format and are taken modulo 2^32, then bounded.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

/// The layout of a vtable that is not the first of its kind; a broken one has an endless extent.
const TableKind::Layout* Verifier::find(uint32_t vtable, TableKind& kind) {
  for (uint32_t i = 1; i < TableKind::kLayouts; ++i) {
    if (kind.layouts_[i].vtable == vtable) return &kind.layouts_[i];
  }
  static constexpr TableKind::Layout kBroken;
  if (vtable > bytes_ - 4 || (vtable & 1) != 0) return &kBroken;
  const uint32_t size = load<uint16_t>(begin_ + vtable);
  if (size < 4 || (size & 1) != 0 || size > bytes_ - vtable) return &kBroken;

  TableKind::Layout layout{vtable, 4, 0, 0, 0};
  uint32_t slot = 4;
  for (uint32_t i = 0; kind.fields_[i] != 0 && slot < size; ++i, slot += 2) {
    const uint32_t distance = load<uint16_t>(begin_ + vtable + slot);
    if (distance == 0) continue;
    const auto width = static_cast<uint32_t>(kind.fields_[i]);
    const uint32_t end = distance + width;
    if (end > 0xFFFE || (distance & ((width < 4 ? width : 4) - 1)) != 0) return &kBroken;
    if (end > layout.extent) layout.extent = static_cast<uint16_t>(end);
    layout.present = static_cast<uint16_t>(layout.present | 1U << i);
    if (i == 0) layout.first = static_cast<uint16_t>(distance);
    if (i == 1) layout.second = static_cast<uint16_t>(distance);
  }
  TableKind::Layout& place = kind.layouts_[kind.oldest_];
  place = layout;
  kind.oldest_ = kind.oldest_ + 1 < TableKind::kLayouts ? kind.oldest_ + 1 : 0;
  return &place;
}

Position Verifier::table(Position at, TableKind& kind) {
  const TableKind::Layout* layout;
  return table(at, kind, layout);
}

Position Verifier::child(Position parent, Slot slot, TableKind& kind) {
  const Position at = field(parent, slot);
  return at != nullptr ? table(at, kind) : nullptr;
}

Vector Verifier::vector(Position parent, Slot slot, uint32_t shift) {
  const Position at = field(parent, slot);
  if (at == nullptr) return {};
  const Position items = target(at);
  if (items == nullptr) return {};
  if (load<uint32_t>(items) > (bytes_ - offset(items) - 4) >> shift) {
    fail();
    return {};
  }
  return {items};
}

}  // namespace thimble::runtime
