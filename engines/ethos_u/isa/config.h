#pragma once
// What one configuration of the Ethos-U has; rows in configs.def.

#include <stdint.h>

#include "engines/ethos_u/isa/isa.h"

namespace thimble::ethos_u {

/// Smallest piece of an OFM that the multipliers make at a time, in elements.
struct Microblocks {
  uint8_t height;
  uint8_t width;
  uint16_t depth;
};

struct Config {
  const char* name;  // "ethos-u55-128"
  Generation generation;
  uint16_t macs;     // multiplications per cycle, all cores together
  uint8_t cores;     // weight streams that are decoded at the same time
  uint8_t banks;     // SHRAM of a core, KiB; 0 on the U85
  uint32_t ifm_ram;  // bytes; the last four are the U85's
  uint32_t accumulator_ram;
  uint32_t output_buffer;
  uint32_t chaining_buffer;
};

inline constexpr Config kConfigs[] = {
#define ETHOS_U_CONFIG(name, generation, macs, cores, banks, ifm, acc, ob, cb) \
  {name, Generation::generation, macs, cores, banks, ifm, acc, ob, cb},
#include "engines/ethos_u/isa/configs.def"
};

struct MicroblockRow {
  const char* config;
  Microblocks block;
};
inline constexpr MicroblockRow kMicroblocks[] = {
#define ETHOS_U_MICROBLOCK(name, height, width, depth) {name, {height, width, depth}},
#include "engines/ethos_u/isa/configs.def"
};

/// Null for a name that is none.
[[nodiscard]] constexpr const Config* find_config(const char* name) {
  for (const Config& config : kConfigs) {
    if (same_text(config.name, name)) return &config;
  }
  return nullptr;
}

/// Bytes of the table memory: the last 2 KiB of the SHRAM, or a RAM of its own on the U85.
inline constexpr uint32_t kLutBytes = 2048;

}  // namespace thimble::ethos_u
