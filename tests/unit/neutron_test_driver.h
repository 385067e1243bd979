// SPDX-License-Identifier: Apache-2.0
#pragma once
// A test driver with the published interface. It records the calls, fails where a test requests it,
// and overwrites every memory that it receives. Its outputs show the memory order of the inputs.

#include <cstdint>
#include <string>
#include <vector>

#include "engines/neutron/container/driver.h"

namespace thimble::neutron_test {

struct TestDriver {
  std::string log;                  // "prepare resume run suspend "
  std::string failing;              // name of the call that fails; empty: none
  NeutronError error = 0x0001230B;  // error of the failing call
  size_t context_bytes = 8;

  // Properties of the network, which a real driver reads in the microcode.
  std::vector<uint32_t> input_bytes, output_bytes;
  uint32_t scratch_bytes = 0, profile_bytes = 0, debug_bytes = 0, prefetch_bytes = 0;
  bool knows_prefetch = true;

  // Arguments of the last prepare and run.
  NeutronModelConfig model = {};
  NeutronDataConfig data = {};
  std::vector<const void*> inputs, outputs;
  const NeutronConfig* hooks = nullptr;
  std::vector<uint8_t*> contexts;  // contexts of all networks
  bool intact = true;              // no context was changed before any run
};
TestDriver& driver();

/// Returns the byte that the driver writes at position k of output `output`.
uint8_t made(uint32_t output, size_t k, const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace thimble::neutron_test
