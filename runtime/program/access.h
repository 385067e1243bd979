// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two access policies for values of the file. Decoding (exec/decode.cpp) is a template over them.
// At load it uses CheckedAccess, which verifies each step first. At run it uses TrustedAccess,
// which repeats the same steps without checks. Run cannot reach data that load did not reach.

#include "runtime/program/flatbuffer_program.h"
#include "runtime/program/value_cache.h"

namespace thimble::runtime {

/// The tag of a value and the position of its payload. An invalid value has the tag kNone.
struct Value {
  uint32_t tag;
  Position payload;
};

struct TrustedAccess {
  static constexpr bool kChecked = false;
  THIMBLE_INLINE static Value value(Position at) {
    // Tag and payload exist. Only kNull (Python's None) may have no payload, which is not read.
    const Position value = follow(at);
    const Position vtable = value - read<int32_t>(value);
    const uint32_t tag = value[read<uint16_t>(vtable + abi::pte::evalue::kValType)];
    if (tag == abi::pte::value_tag::kNull) return {tag, nullptr};
    return {tag, value + read<uint16_t>(vtable + abi::pte::evalue::kVal)};
  }
  THIMBLE_INLINE static Table number(Position at) { return Table(follow(at)); }
  static Table boolean(Position at) { return Table(follow(at)); }
  static Table list(Position at) { return Table(follow(at)); }
  static Table tensor(Position at) { return Table(follow(at)); }
  static Table allocation(Position at) { return Table(follow(at)); }
  THIMBLE_INLINE static FlatVector vector(const Table& table, VtableOffset slot, uint32_t) {
    const Position at = table.field(slot);
    return at != nullptr ? FlatVector{follow(at)} : FlatVector{};
  }
};

/// Verifies each table before it is read, and contains the data of a load. An invalid table is
/// null, an invalid vector is empty.
class CheckedAccess {
 public:
  static constexpr bool kChecked = true;

  bool failed() const { return verifier.failed(); }
  THIMBLE_INLINE Value value(Position at) {
    const CheckedTable table = verifier.table_at(at, value_);
    constexpr uint32_t kTag = index_of(abi::pte::evalue::kValType);
    // An absent tag is kNone. Only kNull (Python's None) may have no payload.
    if (table.at == nullptr || table.layout->at[kTag] == 0) return {0, nullptr};
    const uint32_t tag = table.at[table.layout->at[kTag]];
    const Position payload = table.field(abi::pte::evalue::kVal);
    return {payload != nullptr || tag == abi::pte::value_tag::kNull ? tag : 0, payload};
  }
  THIMBLE_INLINE CheckedTable number(Position at) { return verifier.table_at(at, number_); }
  CheckedTable boolean(Position at) { return verifier.table_at(at, boolean_); }
  CheckedTable list(Position at) { return verifier.table_at(at, list_); }
  CheckedTable tensor(Position at) { return verifier.table_at(at, tensor_); }
  CheckedTable allocation(Position at) { return verifier.table_at(at, allocation_); }
  THIMBLE_INLINE FlatVector vector(const CheckedTable& table, VtableOffset slot, uint32_t shift) {
    return verifier.vector_at(table.field(slot), shift);
  }

  Verifier verifier;
  uint32_t constant_bytes = 0;  // size of the constant segment
  Position program = nullptr;   // root table, for readers of tables that open_program() skips
  Position plan = nullptr;
  ByteRegion segments;              // all segments
  ByteRegion delegates;             // the entry abi::kDelegatesKey; null if there is none
  bool has_delegate_calls = false;  // verified without their delegate index and arguments
  ValueCache value_cache;

 private:
  TableKind value_{"\1\4"};
  TableKind number_{"\10"};
  TableKind boolean_{"\1"};
  TableKind list_{"\4"};
  TableKind tensor_{"\1\4\4\4\1\4\4\1\1\4"};
  TableKind allocation_{"\4\4\4"};
};

/// Iterates over the named data of the file.
class NamedDataIterator {
 public:
  THIMBLE_INLINE explicit NamedDataIterator(CheckedAccess& access)
      : access_(access),
        named_(access.verifier.vector(access.program, abi::pte::program::kNamedData, 2)) {}
  /// Returns false after the last one, or if the file is invalid: access.failed() tells which.
  THIMBLE_INLINE bool next(FlatVector& key, uint32_t& segment) {
    if (at_ == named_.count()) return false;
    const Position data = access_.verifier.table(named_.item(at_++, 4), kind_);
    if (data == nullptr) return false;
    key = access_.verifier.vector(data, abi::pte::named_data::kKey, 0);
    segment = read_field<uint32_t>(data, abi::pte::named_data::kSegmentIndex);
    return true;
  }

 private:
  CheckedAccess& access_;
  FlatVector named_;
  uint32_t at_ = 0;
  TableKind kind_{"\4\4"};
};

/// Returns true if a Tensor has storage_offset, shape_dynamism or extra_tensor_info. Writers omit
/// fields that are 0, so nearly no tensor has one of them.
inline bool has_rare_fields(const CheckedTable& tensor) {
  const uint8_t* const at = tensor.layout->at;
  constexpr uint32_t kTwo = index_of(abi::pte::tensor::kShapeDynamism);
  static_assert(index_of(abi::pte::tensor::kExtraTensorInfo) == kTwo + 1 && kTwo % 2 == 0);
  return (at[index_of(abi::pte::tensor::kStorageOffset)] | read<uint16_t>(at + kTwo)) != 0;
}

}  // namespace thimble::runtime
