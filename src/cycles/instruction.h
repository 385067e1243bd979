// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Thumb instruction as the cycle models need it: its kind and the registers it reads and writes.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace thimble::cycles {

enum class InsnKind : uint8_t {
#define THIMBLE_INSN_KIND(kind) kind,
#include "cycles/kinds.def"
#undef THIMBLE_INSN_KIND
};
[[nodiscard]] std::string_view kind_name(InsnKind kind);

/// A set of registers: bits 0 to 15 are r0 to r15, bits 32 to 63 are s0 to s31.
using Registers = uint64_t;
inline constexpr Registers kFlags = uint64_t{1} << 16;
inline constexpr Registers kPredicate = uint64_t{1} << 17;  // VPR
inline constexpr Registers kFpStatus = uint64_t{1} << 18;   // FPSCR

struct Insn {
  uint32_t address = 0;
  uint32_t code = 0;  // a 32-bit instruction has its first halfword in the high half
  bool wide = false;  // 32 bits long
  bool is_double = false;
  bool indexed = false;  // the address has a register offset
  InsnKind kind = InsnKind::unknown;
  uint8_t items = 0;  // registers that a load or store of several accesses
  Registers writes = 0;
  Registers reads = 0;        // without those of the next members
  Registers addresses = 0;    // read to compute an address
  Registers updates = 0;      // address registers that are also written
  Registers stored = 0;       // data of a store
  Registers accumulator = 0;  // added to a product
  Registers shifted = 0;      // operand that is shifted first

  [[nodiscard]] uint32_t end() const { return address + (wide ? 4 : 2); }
};

/// Decodes consecutive instructions. Instructions that no row of thumb.def has are of kind unknown.
[[nodiscard]] std::vector<Insn> decode(uint32_t address, ByteView code);

}  // namespace thimble::cycles
