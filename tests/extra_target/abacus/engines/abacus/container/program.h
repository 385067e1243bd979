#pragma once
// The program of an Abacus: header | commands | constants, numbers little-endian as the core has
// them. Values lie dense in the order of their dimensions: inputs and outputs with the caller, all
// others in scratch.

#include <cstddef>
#include <cstdint>

namespace thimble::abacus {

inline constexpr char kDelegateId[] = "AbacusModel";
inline constexpr uint32_t kMagic = 0x63616241;  // "Abac"
inline constexpr uint32_t kVersion = 1;
inline constexpr uint32_t kEdgesMost = 32;  // inputs, and outputs
inline constexpr uint32_t kScratchMost = 1U << 28;

struct Header {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;  // of the program
  uint32_t input_count;
  uint32_t output_count;
  uint32_t command_count;
  uint32_t constants;  // where they start, behind the commands
  uint32_t scratch_bytes;
  uint32_t input_bytes[kEdgesMost];
  uint32_t output_bytes[kEdgesMost];
};

enum class Code : uint32_t { kAdd, kMul, kMaximum, kConv, kCount };
enum class Where : uint32_t { kScratch, kInput, kOutput, kCount };

/// A value: an offset in scratch, or the number of an input or output.
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
  uint32_t channels_out;  // likewise
  uint32_t weights;       // in the constants: int8 [out][in]
  uint32_t bias;          // int32 [out]
  uint32_t factors;       // Factor [out]
  int32_t a_zero, b_zero, y_zero;
  int32_t low, high;  // of the result
  Factor a_factor, b_factor, y_factor;
};
static_assert(sizeof(Header) == 32 + 8 * kEdgesMost && sizeof(Command) == 25 * 4);

/// Bytes of what a command reads at a, and of what it writes.
[[nodiscard]] constexpr uint64_t bytes_in(const Command& command) {
  return uint64_t{command.count} * command.images * command.channels_in;
}
[[nodiscard]] constexpr uint64_t bytes_out(const Command& command) {
  return uint64_t{command.count} * command.images * command.channels_out;
}

/// True if run() (model/model.h) touches only the program, inputs, outputs and scratch of the sizes
/// that it states. `program` lies at a multiple of 4.
[[nodiscard]] bool is_sound(const uint8_t* program, size_t bytes);

/// What a driver is handed.
struct Job {
  const uint8_t* program;
  const uint8_t* const* inputs;
  uint8_t* const* outputs;
  uint8_t* scratch;
};

}  // namespace thimble::abacus
