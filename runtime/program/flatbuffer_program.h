// SPDX-License-Identifier: Apache-2.0
#pragma once
// Positions in the flatbuffer of a file, found once by open_program(). Nothing is copied: tensors,
// scalars and instructions are decoded from the file each time they are needed, which costs about
// 30 instructions per argument and no RAM.

#include "abi/limits.h"
#include "abi/status.h"
#include "runtime/program/file.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

struct FlatbufferProgram {
  FlatVector values;        // [EValue]; each is verified when it is used
  FlatVector inputs;        // [i32], value indices of tensors
  FlatVector outputs;       // [i32], value indices of tensors
  FlatVector operators;     // [Operator]
  FlatVector instructions;  // [Instruction], calls of kernels and of delegates
  FlatVector constants;     // [u64] offsets from constant_data; or [Buffer] if that is null
  Position constant_data = nullptr;
  FlatVector memories;       // [u64] size in bytes of each planned memory; [0] is reserved
  uint32_t arena_bytes = 0;  // sum of all memories, one after another, each aligned
  Position state = nullptr;  // abi::StateHeader and its records; null if there are no states
};

/// Offset in the arena of the plan's memory with this id.
uint32_t memory_start(const FlatbufferProgram& flatbuffer, uint32_t memory_id);

class CheckedAccess;

/// Finds the bytes of a segment of the file.
Status find_segment(CheckedAccess& access, uint32_t index, ByteRegion& found);

/// Rounds up to a multiple of abi::kArenaAlignment.
constexpr uint32_t align_to_arena(uint32_t bytes) {
  return (bytes + abi::kArenaAlignment - 1) & ~(abi::kArenaAlignment - 1);
}

/// Verifies all tables except the values, and prepares `access` to verify the values.
Status open_program(const PteRegions& file, CheckedAccess& access, FlatbufferProgram& flatbuffer);

/// Parts of a verified value.
inline uint8_t tag_of(Position value) {
  return read_field<uint8_t>(value, abi::pte::evalue::kValType);
}
inline Position payload_of(Position value) {
  return follow(field(value, abi::pte::evalue::kVal));
}

}  // namespace thimble::runtime
