// SPDX-License-Identifier: Apache-2.0
#pragma once
// The register command stream of the Ethos-U: names and codes of the commands, their fields and the
// values of the fields. Together with config.h, this is all that compiler and simulator share.
// Facts and their sources: docs/ethos-u.md.

#include <stddef.h>
#include <stdint.h>

namespace thimble::ethos_u {

enum class Generation : uint8_t { kU55, kU65, kU85 };

/// Sets of generations, as used in the rows of commands.def.
enum Generations : uint8_t { k55 = 1, k65 = 2, k85 = 4, k556 = 3, k658 = 6, kAll = 7 };
[[nodiscard]] constexpr bool has(uint8_t set, Generation generation) {
  return (set >> static_cast<unsigned>(generation) & 1U) != 0;
}

enum class Operation : uint16_t {
#define ETHOS_U_OPERATION(name, code, generations, payload) name = code,
#include "engines/ethos_u/isa/commands.def"
};
/// Registers by code. Registers with a payload (Reg1) have a separate code space.
enum class Reg0 : uint16_t {
#define ETHOS_U_CMD0(name, code, generations) name = code,
#include "engines/ethos_u/isa/commands.def"
};
enum class Reg1 : uint16_t {
#define ETHOS_U_CMD1(name, code, generations, kind) name = code,
#include "engines/ethos_u/isa/commands.def"
};

/// Masks of the first word of a command.
inline constexpr uint32_t kOpcodeMask = 0x3FF;
inline constexpr uint32_t kReservedMask = 0x3C00;
inline constexpr uint32_t kControlMask = 0xC000;
inline constexpr uint32_t kControlPayload = 0x4000;
[[nodiscard]] constexpr uint16_t parameter_of(uint32_t word) {
  return static_cast<uint16_t>(word >> 16);
}
[[nodiscard]] constexpr uint16_t opcode_of(uint32_t word) {
  return static_cast<uint16_t>(word & kOpcodeMask);
}
[[nodiscard]] constexpr bool has_payload(uint32_t word) {
  return (word & kControlMask) == kControlPayload;
}
[[nodiscard]] constexpr uint32_t word0(uint16_t code, uint32_t parameter) {
  return (parameter & 0xFFFFU) << 16 | code;
}
[[nodiscard]] constexpr uint32_t word1(uint16_t code, uint32_t parameter) {
  return (parameter & 0xFFFFU) << 16 | kControlPayload | code;
}

enum class PayloadKind : uint8_t { kNone, kAddress, kStride, kWord, kPair };

/// Row of the command table.
struct CommandRow {
  const char* name;
  uint16_t code;
  uint8_t generations;
  bool operation;
  bool payload;
  PayloadKind kind;
};
/// Field of a parameter. The name "_" denotes the whole parameter.
struct FieldRow {
  const char* command;
  const char* name;
  uint8_t lsb;
  uint8_t width;
  uint8_t generations;
};

inline constexpr CommandRow kCommands[] = {
#define ETHOS_U_OPERATION(name, code, generations, payload) \
  {#name, code, generations, true, payload, (payload) ? PayloadKind::kWord : PayloadKind::kNone},
#define ETHOS_U_CMD0(name, code, generations) \
  {#name, code, generations, false, false, PayloadKind::kNone},
#define ETHOS_U_CMD1(name, code, generations, kind) \
  {#name, code, generations, false, true, PayloadKind::kind},
#include "engines/ethos_u/isa/commands.def"
};
inline constexpr FieldRow kFields[] = {
#define ETHOS_U_FIELD(register, name, lsb, width, generations) \
  {#register, #name, lsb, width, generations},
#include "engines/ethos_u/isa/commands.def"
};

/// Returns the row of a command word, or null if the generation has no such command.
[[nodiscard]] constexpr const CommandRow* find_command(uint32_t word, Generation generation) {
  for (const CommandRow& row : kCommands) {
    if (row.code == opcode_of(word) && row.payload == has_payload(word) &&
        has(row.generations, generation)) {
      return &row;
    }
  }
  return nullptr;
}

[[nodiscard]] constexpr bool same_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Position of a field in the parameter; width 0 if the generation has no field of that name.
struct Field {
  uint8_t lsb = 0;
  uint8_t width = 0;
  [[nodiscard]] constexpr uint32_t of(uint32_t parameter) const {
    return parameter >> lsb & ((1U << width) - 1U);
  }
  [[nodiscard]] constexpr uint32_t put(uint32_t value) const {
    return (value & ((1U << width) - 1U)) << lsb;
  }
};
[[nodiscard]] constexpr Field find_field(const char* command, const char* name,
                                         Generation generation) {
  for (const FieldRow& row : kFields) {
    if (has(row.generations, generation) && same_text(row.command, command) &&
        same_text(row.name, name)) {
      return {row.lsb, row.width};
    }
  }
  return {};
}

enum class PoolMode : uint8_t {
  kMax,
  kAverage,
  kReduceSum,
  kSum,
  kNone,
  kMin,
  kArgmaxX,
  kArgmaxY,  // U85
};
enum class ElementwiseMode : uint8_t {
  kMul,
  kAdd,
  kSub,
  kMin,
  kMax,
  kLrelu,
  kAbs,
  kClz,
  kShr,
  kShl,
  kLsr,
  kDiv,  // kDiv and all that follow: U85 only
  kCmpEq = 16,
  kCmpNe = 17,
  kCmpGe = 18,
  kCmpGt = 19,
  kAnd = 33,
  kOr = 34,
  kXor = 35,
  kNot = 36,
  kAndNot = 42,
};
enum class ResizeMode : uint8_t { kBilinear, kReplicate, kNearest };
enum class BranchMode : uint8_t { kAlways, kTrue };
enum class Format : uint8_t { kNhwc, kNhcwb16 };
enum class Upscale : uint8_t { kNone, kNearest, kZeros };
enum class Storage : uint8_t { kTile2x2, kTile3x1, kChained, kNone };
enum class ScaleMode556 : uint8_t { kOpaOpb16, kOpa32, kOpb32 };  // of IFM_PRECISION
enum class Round556 : uint8_t { kDouble, kTruncate, kNatural };
enum class Round85 : uint8_t {
  kDoubleSymmetric,
  kNatural,
  kDoubleAsymmetric,
  kSymmetric,
  kTruncateToZero,
  kTruncateToLower,
};
/// Order of the OFM's axes in memory, from outermost to innermost.
enum class Transpose : uint8_t { kHwc = 0, kWhc = 1, kHcw = 2, kWch = 3, kChw = 6, kCwh = 7 };
enum class Reverse : uint8_t { kNone, kH, kW, kC };
enum class Accumulator : uint8_t { kI32, kI40, kF16 };  // U85: kI32, kI48 (value of kI40)
enum class AccumulatorInput : uint8_t { kReset, kKeep, kIfm2 };
enum class Microblock : uint8_t { k1x1, k1x2, k1x4, k2x2, k2x4, k4x4 };  // height x width
enum class Activation556 : uint8_t { kNone = 0, kTanh = 3, kSigmoid = 4, kTable0 = 16 };
enum class Clip556 : uint8_t { kOfm = 0, kU8 = 2, kI8 = 3, kI16 = 5 };
enum class Activation85 : uint8_t {
  kNone = 0,
  kU8ToU8 = 1,
  kI8ToI8 = 4,
  kI8ToI16 = 5,
  kI8ToI32 = 7,
  kI16ToI16 = 8,
  kI16ToI32 = 9,
  kTanh = 10,
  kSigmoid = 11,
};

}  // namespace thimble::ethos_u
