// SPDX-License-Identifier: Apache-2.0
#pragma once
// The arrays of a file's records (abi/records.h), found once by open_records(). Nothing is copied.

#include "abi/records.h"
#include "runtime/program/file.h"

namespace thimble::runtime {

struct RecordProgram {
  const abi::RecordsHeader* header;
  const uint32_t* places;
  const abi::RecordTensor* tensors;
  const uint32_t* shapes;
  const int32_t* lists;
  const uint16_t* inputs;
  const uint16_t* outputs;
  const uint16_t* calls;
  Position constants;
};

// Not stored in RecordProgram, because only load and decoded calls read them.
inline const int64_t* numbers_of(const RecordProgram& records) {
  return reinterpret_cast<const int64_t*>(records.header + 1);
}
inline const uint32_t* operators_of(const RecordProgram& records) {
  return reinterpret_cast<const uint32_t*>(numbers_of(records) + records.header->numbers);
}
inline uint32_t arena_bytes_of(const RecordProgram& records) {
  return (reinterpret_cast<const abi::ProgramEntry*>(records.header) - 1)->arena_bytes;
}

/// Returns true if the tensor is in the arena.
inline bool is_planned(const RecordProgram& records, uint32_t tensor) {
  return records.places[tensor] < abi::kPlaceConstant;
}

/// Verifies the header and locates the arrays. The contents of the arrays are not verified.
Status open_records(const ByteRegion& segments, RecordProgram& records);

}  // namespace thimble::runtime
