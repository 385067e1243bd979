// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program of an Abacus: header | commands | constants, with little-endian integers as on the
// core. Values are dense, in the order of their dimensions. Inputs and outputs are stored in the
// caller's memory, all other values in scratch.

#include <cstddef>
#include <cstdint>

namespace thimble::abacus {

inline constexpr char kDelegateId[] = "AbacusModel";
inline constexpr uint32_t kMagic = 0x63616241;  // "Abac"
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kMaxPorts = 32;  // maximum number of inputs, and of outputs
inline constexpr uint32_t kMaxScratchBytes = 1U << 28;

struct Header {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;  // size of the program
  uint32_t input_count;
  uint32_t output_count;
  uint32_t command_count;
  uint32_t constants;  // offset of the constants, after the commands
  uint32_t scratch_bytes;
  uint32_t input_bytes[kMaxPorts];
  uint32_t output_bytes[kMaxPorts];
};

enum class Code : uint32_t { kAdd, kMul, kMaximum, kConv, kCount };
enum class Where : uint32_t { kScratch, kInput, kOutput, kCount };

/// A value: an offset in scratch, or the index of an input or output.
struct Operand {
  Where where;
  uint32_t at;
};

/// value * mult * 2^(shift - 31)
struct Factor {
  int32_t mult;
  int32_t shift;
};

struct Command {
  Code code;
  Operand a, b, y;        // b: kAdd, kMul, kMaximum
  uint32_t count;         // elements; kConv: pixels of one image
  uint32_t images;        // kConv; otherwise 1
  uint32_t channels_in;   // kConv; otherwise 1
  uint32_t channels_out;  // kConv; otherwise 1
  uint32_t weights;       // offset in the constants: int8 [out][in]
  uint32_t bias;          // offset in the constants: int32 [out]
  uint32_t factors;       // offset in the constants: Factor [out]
  int32_t a_zero, b_zero, y_zero;
  int32_t low, high;  // bounds of the result
  Factor a_factor, b_factor, y_factor;
};
static_assert(sizeof(Header) == 32 + 8 * kMaxPorts && sizeof(Command) == 25 * 4);

/// Number of bytes that a command reads at a; bytes_out() is the number that it writes.
[[nodiscard]] constexpr uint64_t bytes_in(const Command& command) {
  return uint64_t{command.count} * command.images * command.channels_in;
}
[[nodiscard]] constexpr uint64_t bytes_out(const Command& command) {
  return uint64_t{command.count} * command.images * command.channels_out;
}

/// Returns true if run() (model/model.h) accesses only the program and the inputs, outputs and
/// scratch of the sizes stated in the header. `program` must be aligned to 4 bytes.
[[nodiscard]] bool is_valid(const uint8_t* program, size_t bytes);

/// Arguments of a driver call.
struct Job {
  const uint8_t* program;
  const uint8_t* const* inputs;
  uint8_t* const* outputs;
  uint8_t* scratch;
};

}  // namespace thimble::abacus
