#pragma once
// What lies around an Ethos-U: its clock and its two memories; rows in systems.def.

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u {

/// One memory behind AXI ports, as the core sees it.
struct MemoryTiming {
  double bytes_per_cycle;  // of the core's clock, all ports together
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

/// Null for a name that is none.
[[nodiscard]] constexpr const System* find_system(const char* name) {
  for (const System& system : kSystems) {
    if (same_text(system.name, name)) return &system;
  }
  return nullptr;
}

/// What Vela takes where nobody names one.
[[nodiscard]] constexpr const System* default_system(Generation generation) {
  return find_system(generation == Generation::kU55   ? "Ethos_U55_High_End_Embedded"
                     : generation == Generation::kU65 ? "Ethos_U65_High_End"
                                                      : "Ethos_U85_SYS_DRAM_Mid");
}

/// Where constants, arena and fast scratch lie. kSramOnly: all in the SRAM. kSharedSram: constants
/// outside, the arena in the SRAM. kDedicatedSram: constants and arena outside, the fast scratch in
/// an SRAM of the NPU's own.
enum class MemoryMode : uint8_t { kSramOnly, kSharedSram, kDedicatedSram };

}  // namespace thimble::ethos_u
