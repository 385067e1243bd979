#include "runtime/delegates/neutron/networks.h"

#include <cstring>

#include "npu/neutron/driver.h"
#include "npu/neutron/program.h"

namespace thimble::runtime::neutron {

thimble_neutron_network* take_network(const thimble_neutron& npu, const void* program,
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
  ++network.calls;
  thimble::neutron::Header header;
  std::memcpy(&header, network.program, sizeof header.magic);
  if (header.magic != thimble::neutron::kMagic) return;
  std::memcpy(&header, network.program, sizeof header);
  network.cycles += header.cycles;
}

}  // namespace thimble::runtime::neutron

extern "C" {

void thimble_neutron_copy(void* to, void* from, uint32_t bytes, uint32_t) {
  std::memcpy(to, from, bytes);
}
void thimble_neutron_wait(uint32_t) {}

void thimble_neutron_forget(const thimble_neutron* npu) {
  for (uint32_t i = 0; i < npu->network_count; ++i) {
    thimble_neutron_network& row = npu->networks[i];
    // There is nothing to be done about a driver that does not want it back.
    if (row.program != nullptr) (void)neutronModelUnprepare(row.handle);
    row = {nullptr, nullptr, 0, 0};
  }
}

}  // extern "C"
