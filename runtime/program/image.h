#pragma once
// Where things are in a verified file: a handful of positions, found once by open_image. Nothing is
// copied; tensors, scalars and instructions are decoded from the file each time they are needed,
// which costs some 40 instructions per argument and no RAM.

#include "abi/status.h"
#include "runtime/program/flatbuffer.h"

namespace thimble::runtime {

using abi::Status;

struct Image {
  Vector values;        // [EValue], each verified for its tag
  Vector inputs;        // [i32], value indices of tensors
  Vector outputs;       // [i32], value indices of tensors
  Vector operators;     // [Operator]
  Vector instructions;  // [Instruction], KernelCalls all
  Vector constants;     // [u64] offsets from constant_data; or [Buffer] if that is null
  Position constant_data = nullptr;
  uint32_t arena_bytes = 0;
};

/// What only the checks need of a file.
struct Loading {
  Verifier verifier;
  Image* image;
  uint32_t constant_bytes = 0;  // of the constant segment
};

/// Verifies header, segments, tables and every value of the file, in this order.
Status open_image(const void* file, size_t file_bytes, Image& image);

/// Verifies every EValue of the plan (values.cpp).
Status verify_values(Loading& loading);

/// Parts of a verified value.
inline uint8_t tag_of(Position value) {
  return scalar<uint8_t>(value, abi::pte::evalue::kValType);
}
inline Position payload_of(Position value) { return follow(field(value, abi::pte::evalue::kVal)); }

/// The tensor payload of a value that is one, else null.
Position tensor_at(const Image& image, uint32_t value_index);

/// How many bytes an element of an ET scalar type has; 0 for those that no kernel takes.
uint32_t element_bytes(uint32_t scalar_type);

}  // namespace thimble::runtime
