#pragma once
// A driver of the test's own behind the published interface: it writes down who calls what, fails
// where it is told to, fills every memory that it is given and makes outputs that tell in which
// order their bytes lay.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/neutron/container/driver.h"

namespace thimble::neutron_test {

struct Double {
  std::string log;                  // "prepare resume run suspend "
  std::string failing;              // the call that fails
  NeutronError error = 0x0001230B;  // with this
  size_t context_bytes = 8;

  // Of the network: what a driver reads in its microcode.
  std::vector<uint32_t> input_bytes, output_bytes;
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, prefetch_bytes = 0;
  bool knows_prefetch = true;

  // Of the last prepare and run.
  NeutronModelConfig model = {};
  NeutronDataConfig data = {};
  std::vector<const void*> inputs, outputs;
  const NeutronConfig* hooks = nullptr;
  std::vector<uint8_t*> contexts;  // of all networks
  bool intact = true;              // contexts were, at each run
};
Double& driver();

/// What the driver writes: byte k of output `output`.
uint8_t made(uint32_t output, size_t k, const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace thimble::neutron_test
