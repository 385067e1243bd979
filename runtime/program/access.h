#pragma once
// The two ways in which a value of the file is read. Decoding (exec/decode.cpp) is written once
// over either of them: at load with Checked, which proves each step before it is taken, at run with
// Trusted, which repeats the same steps without asking. What load did not reach, run cannot reach.

#include "runtime/program/image.h"
#include "runtime/program/memo.h"

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
    // Tag and payload are there, but for the payload of a None, where nobody asks.
    const Position value = follow(at);
    const Position vtable = value - load<int32_t>(value);
    const uint32_t tag = value[load<uint16_t>(vtable + abi::pte::evalue::kValType)];
    if (tag == abi::pte::value_tag::kNull) return {tag, nullptr};
    return {tag, value + load<uint16_t>(vtable + abi::pte::evalue::kVal)};
  }
  THIMBLE_INLINE static Table number(Position at) { return Table(follow(at)); }
  static Table boolean(Position at) { return Table(follow(at)); }
  static Table list(Position at) { return Table(follow(at)); }
  static Table tensor(Position at) { return Table(follow(at)); }
  static Table allocation(Position at) { return Table(follow(at)); }
  THIMBLE_INLINE static Vector vector(const Table& table, Slot slot, uint32_t) {
    const Position at = table.field(slot);
    return at != nullptr ? Vector{follow(at)} : Vector{};
  }
};

/// Tables and vectors are null if they are broken.
class Checked {
 public:
  static constexpr bool kChecked = true;

  bool failed() const { return verifier.failed(); }
  THIMBLE_INLINE Value value(Position at) {
    const CheckedTable value = verifier.table_at(at, value_);
    // An absent tag is "none"; nothing but None and Null may lack a payload.
    if (value.at == nullptr || value.layout->at[0] == 0) return {0, nullptr};
    const uint32_t tag = value.at[value.layout->at[0]];
    const Position payload = value.field(abi::pte::evalue::kVal);
    return {payload != nullptr || tag == abi::pte::value_tag::kNull ? tag : 0, payload};
  }
  THIMBLE_INLINE CheckedTable number(Position at) { return verifier.table_at(at, number_); }
  CheckedTable boolean(Position at) { return verifier.table_at(at, boolean_); }
  CheckedTable list(Position at) { return verifier.table_at(at, list_); }
  CheckedTable tensor(Position at) { return verifier.table_at(at, tensor_); }
  CheckedTable allocation(Position at) { return verifier.table_at(at, allocation_); }
  THIMBLE_INLINE Vector vector(const CheckedTable& table, Slot slot, uint32_t shift) {
    return verifier.vector_at(table.field(slot), shift);
  }

  Verifier verifier;
  uint32_t constant_bytes = 0;  // of the constant segment
  Position program = nullptr;   // where those who read what the core does not need begin
  Position plan = nullptr;
  Region segments;                  // all of them
  Region delegates;                 // the entry abi::kDelegatesKey; null if there is none
  bool has_delegate_calls = false;  // not verified yet, but for the shape of their tables
  Memo memo;

 private:
  TableKind value_{"\1\4"};
  TableKind number_{"\10"};
  TableKind boolean_{"\1"};
  TableKind list_{"\4"};
  TableKind tensor_{"\1\4\4\4\1\4\4\1\1\4"};
  TableKind allocation_{"\4\4\4"};
};

/// The named data of the file, one after the other.
class NamedDataWalk {
 public:
  THIMBLE_INLINE explicit NamedDataWalk(Checked& access)
      : access_(access),
        named_(access.verifier.vector(access.program, abi::pte::program::kNamedData, 2)) {}
  /// False behind the last one, or where the file is broken: access.failed() tells which.
  THIMBLE_INLINE bool next(Vector& key, uint32_t& segment) {
    if (at_ == named_.count()) return false;
    const Position data = access_.verifier.table(named_.item(at_++, 4), kind_);
    if (data == nullptr) return false;
    key = access_.verifier.vector(data, abi::pte::named_data::kKey, 0);
    segment = scalar<uint32_t>(data, abi::pte::named_data::kSegmentIndex);
    return true;
  }

 private:
  Checked& access_;
  Vector named_;
  uint32_t at_ = 0;
  TableKind kind_{"\4\4"};
};

/// A Tensor with storage_offset, shape_dynamism or extra_tensor_info: writers leave out what is 0,
/// so nearly none has one of them.
inline bool is_unusual(const CheckedTable& tensor) {
  const uint8_t* const at = tensor.layout->at;
  return (at[1] | load<uint16_t>(at + 8)) != 0;
}

}  // namespace thimble::runtime
