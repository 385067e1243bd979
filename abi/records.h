// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program of a native file in the form that the runtime executes in place: the tables and names
// of the flatbuffer as arrays of numbers. The records follow abi::ProgramEntry (entry_version 2) in
// the named_data entry "thimble". That entry is the first data in the segments of the file, so that
// the runtime finds it without reading the flatbuffer. Integers are little-endian, a word is 32
// bits; docs/formats/records.md specifies the bytes.
//
// The entry contains ProgramEntry, RecordsHeader, then these arrays without gaps; RecordsHeader has
// their lengths:
//   numbers    8 bytes each: int64 or double
//   operators  OperatorKey (abi/pte_op.h) of each operator
//   places     uint32 per tensor: the location of its data
//   tensors    RecordTensor, in the order of their shapes
//   shapes     words: RecordShapes in sequence, each followed by its sizes, in the order in which
//              tensors refer to them
//   lists      words: a count, then that number of int32; lists of tensors contain indices
//   inputs     uint16: indices of tensors
//   outputs    uint16: indices of tensors
//   calls      uint16: calls in sequence. A call is the index of the operator, then one operand for
//              each of its letters. T t s o: a tensor; i b d j y z: a number; l k R w: the word of
//              `lists` with its count

#include <cstdint>

#include "abi/limits.h"
#include "abi/named_data.h"
#include "abi/pte_op.h"

namespace thimble::abi {

struct RecordsHeader {
  uint32_t bytes;  // from the start of the entry to the end of the calls
  /// Offsets from the start of the entry: the constants, at a multiple of 16, and entry kStateKey.
  uint32_t constants_at, constants_bytes;
  uint32_t state_at, state_bytes;  // 0, 0: no state
  uint32_t call_words;             // size of `calls` in uint16
  uint16_t numbers, operators, tensors, shape_words, list_words, inputs, outputs, calls;
};
static_assert(sizeof(ProgramEntry) + sizeof(RecordsHeader) == 72, "numbers are 8-byte aligned");

/// A place below kPlaceConstant is an offset in the arena. From kPlaceConstant on, it is an offset
/// in the constants. From kPlaceInput on, it is the index of an input in a caller's buffer.
/// kPlaceNone means no operand.
inline constexpr uint32_t kPlaceConstant = 0x80000000;
inline constexpr uint32_t kPlaceInput = 0xC0000000;
inline constexpr uint32_t kPlaceNone = 0xFFFFFFFF;

struct RecordTensor {
  uint16_t shape;  // word of `shapes`
  uint8_t dtype;   // ScalarType
  uint8_t reserved;
};
static_assert(sizeof(RecordTensor) == 4);

/// int32 sizes[rank] follow, in logical order.
struct RecordShape {
  uint32_t elements;
  uint8_t rank;
  uint8_t dim_order[kMaxRank];
  uint8_t reserved;
};
static_assert(sizeof(RecordShape) == 12);
static_assert(sizeof(OperatorKey) == 4);

}  // namespace thimble::abi
