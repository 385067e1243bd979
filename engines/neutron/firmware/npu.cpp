// SPDX-License-Identifier: Apache-2.0
// The runner with a Neutron. The integer model, which implements the vendor's driver interface,
// replaces the NPU; the runtime's delegates call it. The command line has additional words at the
// start:
//
//   runner-neutron [-0 | -f error] ARGUMENTS OF THE RUNNER (firmware/apps/runner/main.cpp)
//
// -f: each run is preceded by one in which the driver returns an error and leaves wrong results.
// -0 makes the driver call do nothing, to measure the cost of a call. The report has a line for
// each network: `neutron 19114957 kernels 14 calls 3 cycles 4110`, with its hash in decimal, and
// with NPU cycles as estimated by the compiler. The linker redirects the driver's function to
// __wrap_neutronRunBlocking.

#include <cstring>

#include "engines/neutron/container/driver.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/delegate/backend.h"
#include "firmware/apps/runner/kernels.h"
#include "firmware/common/text.h"
#include "kernels/kernels.h"

namespace thimble::firmware {
namespace {

constexpr uint32_t kNetworksMax = 64;
thimble_neutron_network networks[kNetworksMax];
thimble_neutron npu;
runtime::DelegateBackend rows[2];
runtime::DelegateBackends delegates;
kernels::KernelTable table;
bool idle;
bool has_fault, is_failing;
constexpr NeutronError kFaultError = 0x0001230B;  // any error of the driver

/// The NPU stops in the middle: results have any content.
void damage_outputs(const NeutronDataConfig* config) {
  *static_cast<uint8_t*>(config->outputs[0]) = 0xA5;
}

}  // namespace

uint32_t parse_words(const char** words, uint32_t count) {
  npu = {};
  npu.memory = {thimble_neutron_copy, thimble_neutron_wait};
  npu.networks = networks;
  npu.network_count = kNetworksMax;
  has_fault = count > 1 && std::strcmp(words[0], "-f") == 0 && std::strcmp(words[1], "error") == 0;
  if (has_fault) return 2;
  if (count == 0 || std::strcmp(words[0], "-0") != 0) return 0;
  idle = true;
  return 1;
}

const thimble_kernels* kernels_for(const uint8_t*, size_t, const RamAllocator&) {
  (void)neutronInit();
  rows[0] = runtime::neutron::backend(&npu);
  rows[1] = runtime::neutron::vendor_backend(&npu);
  delegates = runtime::delegates_of(rows, 2);
  table = kernels::all_kernels();
  table.delegates = &delegates;
  return reinterpret_cast<const thimble_kernels*>(&table);
}

void set_model_memory(uint8_t*, size_t) {}

bool set_fault(bool on) {
  is_failing = on && has_fault;
  return has_fault;
}

void write_report_lines(void* report, void (*write)(void* report, const char* text)) {
  for (const thimble_neutron_network& network : networks) {
    if (network.program == nullptr) continue;
    const neutron::Header header =
        neutron::Program(static_cast<const uint8_t*>(network.program)).header();
    char buffer[128];
    Text line(buffer, sizeof buffer);
    line << "neutron " << header.content_hash << " kernels " << header.kernel_count << " calls "
         << network.calls << " cycles " << static_cast<uint32_t>(network.cycles) << "\n";
    write(report, line.text());
  }
}

}  // namespace thimble::firmware

extern "C" {

NeutronError __real_neutronRunBlocking(NeutronModelHandle, const NeutronDataConfig*);
NeutronError __wrap_neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* config) {
  using namespace thimble::firmware;
  if (idle) return NEUTRON_NO_ERROR;
  const NeutronError error = __real_neutronRunBlocking(handle, config);
  if (!is_failing) return error;
  damage_outputs(config);
  return kFaultError;
}

}  // extern "C"
