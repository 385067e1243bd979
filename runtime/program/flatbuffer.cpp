// The checks behind flatbuffer.h. All arithmetic is on offsets below 2^31, so that no sum of two
// wraps; vtable distances are signed in the format and are taken modulo 2^32, then bounded.

#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

Position Verifier::target(Position at) {
  const uint32_t distance = load<uint32_t>(at);
  // The target starts with a word of its own: a table's vtable distance or a vector's count.
  if (distance > bytes_ - offset(at) || bytes_ - offset(at) - distance < 4) return fail();
  if ((distance & 3) != 0 || distance == 0) return fail();
  return at + distance;
}

Position Verifier::table(Position at) {
  const Position table = target(at);
  if (table == nullptr) return nullptr;
  const uint32_t vtable = offset(table) - load<uint32_t>(table);
  if (vtable > bytes_ - 4 || (vtable & 1) != 0) return fail();
  const uint32_t size = load<uint16_t>(begin_ + vtable);
  if (size < 4 || (size & 1) != 0 || size > bytes_ - vtable) return fail();
  return table;
}

Position Verifier::field(Position table, Slot slot, uint32_t bytes) {
  const Position vtable = table - load<int32_t>(table);
  if (slot >= load<uint16_t>(vtable)) return nullptr;
  const uint32_t distance = load<uint16_t>(vtable + slot);
  if (distance == 0) return nullptr;
  const uint32_t start = offset(table) + distance;
  const uint32_t alignment = bytes < 4 ? bytes : 4;
  if (start > bytes_ - bytes || (start & (alignment - 1)) != 0) return fail();
  return begin_ + start;
}

Position Verifier::child(Position parent, Slot slot) {
  const Position at = field(parent, slot, 4);
  return at != nullptr ? table(at) : nullptr;
}

Vector Verifier::vector(Position parent, Slot slot, uint32_t shift) {
  const Position at = field(parent, slot, 4);
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
