#pragma once
// What the decoders of kernels and of DMAs share.

#include "engines/ethos_u/sim/decode.h"

namespace thimble::ethos_u::sim {

[[nodiscard]] inline Fault bad(const char* detail) {
  return fault_of(FaultKind::kBadRegister, detail);
}
[[nodiscard]] inline Fault misaligned(const char* detail) {
  return fault_of(FaultKind::kMisaligned, detail);
}

/// Zero points and limits are 16 bits: unsigned only of an unsigned 16-bit map.
[[nodiscard]] int32_t narrow_value(uint16_t value, const FeatureMap& map);

enum class MapName : uint8_t { kIfm, kIfm2, kOfm };

/// Everything but the sizes.
[[nodiscard]] Fault decode_map(const Registers& registers, MapName name, FeatureMap* map);

/// After the sizes are known: bases that are used, and strides, on their grid. `rows` and `columns`
/// are those in memory, which a transposition exchanges.
[[nodiscard]] Fault check_map(const FeatureMap& map, uint32_t rows, uint32_t columns);

}  // namespace thimble::ethos_u::sim
