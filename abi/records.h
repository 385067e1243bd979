#pragma once
// The program of a native file as the runtime executes it, in place: what the flatbuffer says in
// tables and names, as arrays of numbers. It stands behind abi::Entry (entry_version 2) in the
// named_data entry "thimble", and that entry is the first thing in the segments of the file, so
// that nothing of the flatbuffer is read to find it. Little-endian; docs/formats/records.md has the
// bytes.
//
// Entry, Records, then without gaps, each as many as Records says:
//   numbers    8 bytes each: int64 or double
//   operators  uint32: hash_of() the operator's name and arguments
//   places     uint32 per tensor: where its data is
//   tensors    RecordTensor, in the order of their shapes
//   shapes     words: one RecordShape after the other, each with its sizes, in the order in which
//              tensors name them
//   lists      words: a count, then as many int32; of tensors: their indices
//   inputs     uint16: tensors
//   outputs    uint16: tensors
//   calls      uint16: one call after the other: index of the operator, then one operand for each
//              of its letters. T t s o: a tensor; i b d j y z: a number; l k R w: the word of
//              `lists` that is its count

#include <cstdint>

#include "abi/native_params.h"

namespace thimble::abi {

struct Records {
  uint32_t bytes;  // of the entry up to the end of the calls
  /// From the start of the entry: the constants, at a multiple of 16, and the entry kStateKey.
  uint32_t constants_at, constants_bytes;
  uint32_t state_at, state_bytes;  // 0, 0: no state
  uint32_t call_words;             // uint16
  uint16_t numbers, operators, tensors, shape_words, list_words, inputs, outputs, calls;
};
static_assert(sizeof(Entry) + sizeof(Records) == 72, "numbers are 8-byte aligned");

/// A place: an offset in the arena; from kPlaceConstant on, an offset in the constants; from
/// kPlaceInput on, the number of the input whose data the caller has; kPlaceNone: no operand.
inline constexpr uint32_t kPlaceConstant = 0x80000000;
inline constexpr uint32_t kPlaceInput = 0xC0000000;
inline constexpr uint32_t kPlaceNone = 0xFFFFFFFF;

struct RecordTensor {
  uint16_t shape;  // word of `shapes`
  uint8_t dtype;   // ScalarType
  uint8_t reserved;
};
static_assert(sizeof(RecordTensor) == 4);

/// Then int32 sizes[rank], in logical order.
struct RecordShape {
  uint32_t elements;
  uint8_t rank;
  uint8_t dim_order[6];
  uint8_t reserved;
};
static_assert(sizeof(RecordShape) == 12);

/// FNV-1a over the name, '(' and the letters of the arguments.
constexpr uint32_t hash_of(const char* name, const char* arguments) {
  uint32_t hash = 0x811C9DC5;
  const auto add = [&](char letter) {
    hash = (hash ^ static_cast<uint8_t>(letter)) * 0x01000193;
  };
  for (; *name != 0; ++name) add(*name);
  add('(');
  for (; *arguments != 0; ++arguments) add(*arguments);
  return hash;
}

}  // namespace thimble::abi
