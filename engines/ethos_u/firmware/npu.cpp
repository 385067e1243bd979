// The runner with an Ethos-U. The runtime's driver writes the registers of a simulated NPU or of
// the board's own. Additional words at the start of the command line select one, and pass values
// that the host has read from the file:
//
//   runner-ethos-u -n CONFIGURATION WORKSPACE_BYTES FAST_BYTES [-p] MODEL.pte ...
//   runner-ethos-u -m CONFIGURATION FAST_BYTES [-p] MODEL.pte ...
//
// -m is for FVPs of Corstone-300, which have an NPU at its address. QEMU's board has none.

#include <cstring>
#include <new>

#include "engines/ethos_u/delegate/backend.h"
#include "engines/ethos_u/sim/device.h"
#include "firmware/apps/runner/kernels.h"
#include "firmware/common/exit_codes.h"
#include "firmware/common/semihosting.h"
#include "kernels/kernels.h"

namespace thimble::firmware {
namespace {

using ethos_u::sim::Device;

/// Address of the NPU's registers in Corstone-300.
constexpr uintptr_t kBoardNpu = 0x48102000;

const ethos_u::Config* config;
bool simulated;
uint32_t workspace_bytes, fast_bytes;
alignas(Device) unsigned char device_memory[sizeof(Device)];
Device* device;
thimble_ethos_u npu;
runtime::DelegateBackend row;
runtime::DelegateBackends delegates;
kernels::KernelTable table;

uint32_t number_of(const char* word) {
  uint32_t number = 0;
  for (; *word >= '0' && *word <= '9'; ++word) {
    number = number * 10 + static_cast<uint32_t>(*word - '0');
  }
  return number;
}

uint32_t read_register(void*, uint32_t offset) {
  return device->read(offset);
}
void write_register(void*, uint32_t offset, uint32_t value) {
  device->write(offset, value);
}

}  // namespace

uint32_t parse_words(const char** words, uint32_t count) {
  if (count == 0) return 0;
  simulated = std::strcmp(words[0], "-n") == 0;
  if (!simulated && std::strcmp(words[0], "-m") != 0) return 0;
  const uint32_t taken = simulated ? 4 : 3;
  if (count < taken) return 0;
  config = ethos_u::find_config(words[1]);
  if (config == nullptr) {
    host_print("error: no such NPU: ");
    host_print(words[1]);
    host_print("\n");
    host_exit(kExitUsage);
  }
  if (simulated) workspace_bytes = number_of(words[2]);
  fast_bytes = number_of(words[taken - 1]);
  return taken;
}

const thimble_kernels* kernels_for(const uint8_t* file, size_t file_bytes,
                                   const RamAllocator& memory) {
  if (config == nullptr) return thimble_all_kernels();
  uint8_t* const workspace = memory.take(memory.user, workspace_bytes);
  uint8_t* const fast = memory.take(memory.user, fast_bytes);
  npu.base = kBoardNpu;
  npu.fast_memory = fast;
  npu.fast_bytes = fast_bytes;
  if (simulated) {
    device = new (device_memory) Device(*config, workspace, workspace_bytes);
    (void)device->connect({const_cast<uint8_t*>(file), file_bytes, true});
    (void)device->connect({fast, fast_bytes});
    npu.read = read_register;
    npu.write = write_register;
    npu.polls = 1;  // a started stream has ended when the start returns
  }
  row = runtime::ethos_u::backend(&npu);
  delegates = runtime::delegates_of(&row, 1);
  table = kernels::all_kernels();
  table.delegates = &delegates;
  return reinterpret_cast<const thimble_kernels*>(&table);
}

void set_model_memory(uint8_t* memory, size_t arena_bytes) {
  if (device != nullptr) (void)device->connect({memory, arena_bytes});
}

void write_report_lines(void*, void (*)(void*, const char*)) {}

}  // namespace thimble::firmware
