// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions shared by the decoders of kernels and DMAs.

#include "engines/ethos_u/sim/decode.h"

namespace thimble::ethos_u::sim {

[[nodiscard]] inline Fault bad(const char* detail) {
  return fault_of(FaultKind::kBadRegister, detail);
}
[[nodiscard]] inline Fault misaligned(const char* detail) {
  return fault_of(FaultKind::kMisaligned, detail);
}

// Position of bit field `name` of a register, in read-only memory.
#define ETHOS_U_FIELD_POSITION(command, name)               \
  ([]() -> const Place& {                                   \
    static constexpr Place kPlace = place(#command, #name); \
    return kPlace;                                          \
  }())
// Value of bit field `name` of a register. ETHOS_U_PAYLOAD_FIELD is for registers whose command has
// a payload; the field is in the 16-bit parameter in both.
#define ETHOS_U_FIELD(registers, command, name) \
  (registers).get(Reg0::command, ETHOS_U_FIELD_POSITION(command, name))
#define ETHOS_U_PAYLOAD_FIELD(registers, command, name) \
  (registers).parameter(Reg1::command, ETHOS_U_FIELD_POSITION(command, name))

/// Decodes a zero point or limit. The value is signed 16-bit, except for an unsigned 16-bit map.
[[nodiscard]] int32_t narrow_value(uint16_t value, const FeatureMap& map);

enum class MapName : uint8_t { kIfm, kIfm2, kOfm };

/// Decodes all fields of a map except its sizes.
[[nodiscard]] Fault decode_map(const Registers& registers, MapName name, FeatureMap* map);

/// Checks the alignment of the bases in use and of the strides. Call it after the sizes are known.
/// `rows` and `columns` are those in memory, after a transposition.
[[nodiscard]] Fault check_map(const FeatureMap& map, uint32_t rows, uint32_t columns);

}  // namespace thimble::ethos_u::sim
