#pragma once
// The two ways in which a value of the file is read. Decoding (exec/decode.cpp) is written once over
// either of them: at load with Checked, which proves each step before it is taken, at run with
// Trusted, which repeats the same steps without asking. What load did not reach, run cannot reach.

#include "runtime/program/image.h"

namespace thimble::runtime {

/// The tag of a value and the offset of its payload. A broken value has the tag "none".
struct Value {
  uint32_t tag;
  Position payload;
};

struct Trusted {
  static constexpr bool kChecked = false;
  static bool failed() { return false; }
  THIMBLE_INLINE static Value value(Position at) {
    const Position value = follow(at);
    return {tag_of(value), field(value, abi::pte::evalue::kVal)};
  }
  /// The 64 bits of an Int or a Double; false if it is broken.
  THIMBLE_INLINE static bool number(Position at, uint64_t& bits) {
    bits = scalar<uint64_t>(follow(at), abi::pte::scalar_value::kValue);
    return true;
  }
  static Position boolean(Position at) { return follow(at); }
  static Position list(Position at) { return follow(at); }
  static Position tensor(Position at) { return follow(at); }
  static Position allocation(Position at) { return follow(at); }
  static Vector vector(Position table, Slot slot, uint32_t) {
    return runtime::vector(table, slot);
  }
};

/// Tables are null if they are broken.
class Checked {
 public:
  static constexpr bool kChecked = true;

  bool failed() const { return verifier.failed(); }
  THIMBLE_INLINE Value value(Position at) {
    const TableKind::Layout* layout;
    const Position value = verifier.table(at, value_, layout);
    // An absent tag is "none"; nothing but None and Null may lack a payload.
    if (value == nullptr || layout->first == 0) return {0, nullptr};
    const uint32_t tag = value[layout->first];
    if (layout->second != 0) return {tag, value + layout->second};
    return {tag == abi::pte::value_tag::kNull ? tag : 0, nullptr};
  }
  THIMBLE_INLINE bool number(Position at, uint64_t& bits) {
    const TableKind::Layout* layout;
    const Position number = verifier.table(at, number_, layout);
    if (number == nullptr) return false;
    bits = layout->first != 0 ? load<uint64_t>(number + layout->first) : 0;
    return true;
  }
  Position boolean(Position at) { return verifier.table(at, boolean_); }
  Position list(Position at) { return verifier.table(at, list_); }
  THIMBLE_INLINE Position tensor(Position at) {
    const TableKind::Layout* layout;
    const Position tensor = verifier.table(at, tensor_, layout);
    unusual = tensor != nullptr && (layout->present & kUnusual) != 0;
    return tensor;
  }
  Position allocation(Position at) { return verifier.table(at, allocation_); }
  Vector vector(Position table, Slot slot, uint32_t shift) {
    return verifier.vector(table, slot, shift);
  }

  Verifier verifier;
  uint32_t constant_bytes = 0;  // of the constant segment
  bool unusual = false;         // the last tensor has a field that nearly none has

 private:
  // storage_offset, shape_dynamism, extra_tensor_info: writers leave out what is 0.
  static constexpr uint32_t kUnusual = 1U << 1 | 1U << 8 | 1U << 9;

  TableKind value_{"\1\4"};
  TableKind number_{"\10"};
  TableKind boolean_{"\1"};
  TableKind list_{"\4"};
  TableKind tensor_{"\1\4\4\4\1\4\4\1\1\4"};
  TableKind allocation_{"\4\4\4"};
};

}  // namespace thimble::runtime
