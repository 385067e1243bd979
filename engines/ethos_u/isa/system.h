// SPDX-License-Identifier: Apache-2.0
#pragma once
// The system around an Ethos-U: its clock and its two memories; rows in systems.def.

#include "abi/named_data.h"
#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u {

/// Timing of one memory connected to AXI ports, as seen by the NPU.
struct MemoryTiming {
  double bytes_per_cycle;  // per cycle of the NPU's clock, all ports together
  uint16_t read_latency;   // cycles
  uint16_t write_latency;
  uint16_t burst;  // bytes of the longest burst
};

struct System {
  const char* name;     // "Ethos_U55_High_End_Embedded"
  uint8_t generations;  // Generations
  uint32_t clock_mhz;
  MemoryTiming sram;
  MemoryTiming external;  // flash or DRAM
};

inline constexpr System kSystems[] = {
#define ETHOS_U_SYSTEM(name, generations, clock_mhz, sram_rate, sram_read, sram_write, sram_burst, \
                       rate, read, write, burst)                                                   \
  {name,                                                                                           \
   generations,                                                                                    \
   clock_mhz,                                                                                      \
   {sram_rate, sram_read, sram_write, sram_burst},                                                 \
   {rate, read, write, burst}},
#include "engines/ethos_u/isa/systems.def"
};

/// Returns null if no system has the name.
[[nodiscard]] constexpr const System* find_system(const char* name) {
  for (const System& system : kSystems) {
    if (same_text(system.name, name)) return &system;
  }
  return nullptr;
}

/// Returns the system that a file states (abi::DelegateRecord::system); null if it is not in the
/// table.
[[nodiscard]] constexpr const System* system_of_id(uint16_t id) {
  for (const System& system : kSystems) {
    if (abi::system_id(system.name) == id) return &system;
  }
  return nullptr;
}
constexpr bool system_ids_differ() {
  for (const System& system : kSystems) {
    const uint16_t id = abi::system_id(system.name);
    if (id <= abi::kSystemOfPart || system_of_id(id) != &system) return false;
  }
  return true;
}
static_assert(system_ids_differ());

/// Returns Vela's default system configuration of a generation.
[[nodiscard]] constexpr const System* default_system(Generation generation) {
  return find_system(generation == Generation::kU55   ? "Ethos_U55_High_End_Embedded"
                     : generation == Generation::kU65 ? "Ethos_U65_High_End"
                                                      : "Ethos_U85_SYS_DRAM_Mid");
}

/// Memory mode: which memory holds constants, arena and fast scratch. kSramOnly: all are in SRAM.
/// kSharedSram: constants are in the external memory, the arena is in SRAM. kDedicatedSram:
/// constants and arena are in the external memory; fast scratch is in SRAM reserved for the NPU.
enum class MemoryMode : uint8_t { kSramOnly, kSharedSram, kDedicatedSram };

}  // namespace thimble::ethos_u
