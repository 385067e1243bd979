// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/delegate/networks.h"

#include <string.h>

#include "engines/neutron/container/driver.h"
#include "engines/neutron/container/program.h"

namespace thimble::runtime::neutron {

thimble_neutron_network* find_or_add_network(const thimble_neutron& npu, const void* program,
                                             void* handle) {
  for (uint32_t i = 0; i < npu.network_count; ++i) {
    thimble_neutron_network& row = npu.networks[i];
    if (row.program != nullptr && row.program != program) continue;
    if (row.program == nullptr) row = {program, handle, 0, 0};
    row.handle = handle;
    return &row;
  }
  return nullptr;
}

void count_call(thimble_neutron_network& network) {
  using thimble::neutron::Header;
  ++network.calls;
  const auto* const program = static_cast<const uint8_t*>(network.program);
  uint32_t magic, cycles;
  memcpy(&magic, program + offsetof(Header, magic), sizeof magic);
  if (magic != thimble::neutron::kMagic) return;
  memcpy(&cycles, program + offsetof(Header, cycles), sizeof cycles);
  network.cycles += cycles;
}

}  // namespace thimble::runtime::neutron

extern "C" {

void thimble_neutron_copy(void* to, void* from, uint32_t bytes, uint32_t) {
  memcpy(to, from, bytes);
}
void thimble_neutron_wait(uint32_t) {}

void thimble_neutron_forget(const thimble_neutron* npu) {
  if (npu->networks == nullptr) return;
  for (uint32_t i = 0; i < npu->network_count; ++i) {
    thimble_neutron_network& row = npu->networks[i];
    // An error of the driver cannot be handled here.
    if (row.program != nullptr) (void)neutronModelUnprepare(row.handle);
    row = {nullptr, nullptr, 0, 0};
  }
}

}  // extern "C"
