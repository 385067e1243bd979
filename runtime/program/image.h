#pragma once
// Positions in a file, found once by open_image(). Nothing is copied: tensors, scalars and
// instructions are decoded from the file each time they are needed, which costs about 30
// instructions per argument and no RAM.

#include "abi/limits.h"
#include "abi/status.h"
#include "runtime/program/file.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

struct Image {
  Vector values;        // [EValue]; each is verified when it is used
  Vector inputs;        // [i32], value indices of tensors
  Vector outputs;       // [i32], value indices of tensors
  Vector operators;     // [Operator]
  Vector instructions;  // [Instruction], calls of kernels and of delegates
  Vector constants;     // [u64] offsets from constant_data; or [Buffer] if that is null
  Position constant_data = nullptr;
  Vector memories;           // [u64] size in bytes of each planned memory; [0] is reserved
  uint32_t arena_bytes = 0;  // sum of all memories, one after another, each aligned
  Position state = nullptr;  // abi::StateHeader and its records; null if there are no states
};

/// Offset in the arena of the plan's memory with this id.
uint32_t memory_start(const Image& image, uint32_t memory_id);

class Checked;
class Verifier;

/// Finds the bytes of a segment of the file.
Status find_segment(Checked& access, uint32_t index, ByteRegion& found);

constexpr uint32_t aligned(uint32_t bytes) {
  return (bytes + abi::kArenaAlignment - 1) & ~(abi::kArenaAlignment - 1);
}

/// Verifies the header, the segments and all tables except the values. Sets up `access` for those.
Status open_image(const File& file, Checked& access, Image& image);

/// Parts of a verified value.
inline uint8_t tag_of(Position value) {
  return scalar<uint8_t>(value, abi::pte::evalue::kValType);
}
inline Position payload_of(Position value) {
  return follow(field(value, abi::pte::evalue::kVal));
}

}  // namespace thimble::runtime
