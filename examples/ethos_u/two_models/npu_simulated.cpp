// SPDX-License-Identifier: Apache-2.0
// The simulator in place of the NPU's registers, for boards without an NPU. thimble_npu is defined
// here, so the linker does not use the object with the address of the part.

#include "abi/freestanding.h"
#include "engines/ethos_u/sim/device.h"
#include "thimble_ethos_u.h"

extern "C" {
#include "npu.h"
}

namespace {

namespace sim = thimble::ethos_u::sim;

alignas(16) uint8_t workspace[48 * 1024];
alignas(sim::Device) unsigned char storage[sizeof(sim::Device)];
sim::Device* device;

sim::Device& npu() {
  if (device == nullptr) {
    device = new (thimble::abi::Place{storage})
        sim::Device(*thimble::ethos_u::find_config("ethos-u55-128"), workspace, sizeof workspace);
  }
  return *device;
}
uint32_t read_register(void*, uint32_t offset) {
  return npu().read(offset);
}
void write_register(void*, uint32_t offset, uint32_t value) {
  npu().write(offset, value);
}

}  // namespace

extern "C" int npu_start(const npu_memory* memories, int count) {
  for (int i = 0; i < count; ++i) {
    auto* const data = static_cast<uint8_t*>(const_cast<void*>(memories[i].data));
    if (!npu().connect({data, memories[i].bytes, memories[i].read_only != 0})) return 1;
  }
  return 0;
}

// A started stream has ended when the start returns: one read of the status suffices.
extern "C" const thimble_ethos_u thimble_npu = {
    0, read_register, write_register, nullptr, nullptr, 0, 1, 0, 0, 0};
