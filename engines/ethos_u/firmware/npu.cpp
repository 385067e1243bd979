// The runner with an Ethos-U. The runtime's driver writes the registers of a simulated NPU or of
// the board's own. Additional words at the start of the command line select one, and pass values
// that the host has read from the file:
//
//   runner-ethos-u -n CONFIGURATION WORKSPACE_BYTES FAST_BYTES [-p] MODEL.pte ...
//   runner-ethos-u -m CONFIGURATION FAST_BYTES [-p] MODEL.pte ...
//   runner-ethos-u -f FAULT -n ...
//
// -f: each run is preceded by one in which the NPU has this fault, a name of kFaults.
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

namespace reg = ethos_u::reg;

/// A failure of the NPU. A stream that starts is not executed, except by a late
/// NPU and by one that loses its interrupt.
struct Fault {
  const char* name;
  uint32_t status;        // read after the start
  uint32_t reset_status;  // read before it
  bool other_level;       // the level after a reset is not the one that was written
};
constexpr uint32_t kStopped = reg::kInterrupt;
constexpr Fault kFaults[] = {
    {"hang", reg::kRunning, 0, false},
    {"late", reg::kRunning, 0, false},
    {"bus", reg::kBusFault | kStopped, 0, false},
    {"parse", reg::kParseFault | kStopped, 0, false},
    {"weight", reg::kWeightFault | kStopped, 0, false},
    {"ecc", reg::kEccFault | kStopped, 0, false},
    {"branch", reg::kBranchFault | kStopped, 0, false},
    {"ended-with-fault", reg::kEndReached | reg::kBusFault | kStopped, 0, false},
    {"early-interrupt", kStopped, 0, false},
    {"stop", 0, 0, false},
    {"lost-interrupt", 0, 0, false},
    {"endless-reset", 0, reg::kResetting, false},
    {"wrong-level", 0, 0, true},
};
constexpr uint32_t kFaultPolls = 64;  // before a timeout
constexpr uint32_t kLatePolls = 40;   // status reads until a late NPU works

const Fault* wanted_fault;
const Fault* fault;  // null: none now
bool started;
uint32_t polls_since_start;

bool is_fault(const char* name) {
  return fault != nullptr && std::strcmp(fault->name, name) == 0;
}

uint32_t read_register(void*, uint32_t offset) {
  if (fault == nullptr) return device->read(offset);
  if (offset == reg::kProtection && fault->other_level) return ~device->read(offset);
  if (offset != reg::kStatus) return device->read(offset);
  if (!started) return device->read(offset) | fault->reset_status;
  if (is_fault("lost-interrupt")) return device->read(offset) & ~reg::kInterrupt;
  if (is_fault("late") && ++polls_since_start >= kLatePolls) {
    if (polls_since_start == kLatePolls) device->write(reg::kCommand, reg::kRun);
    return device->read(offset);
  }
  return fault->status;
}
void write_register(void*, uint32_t offset, uint32_t value) {
  if (offset == reg::kReset) started = false;
  const bool starts = offset == reg::kCommand && (value & reg::kRun) != 0;
  if (starts) started = true, polls_since_start = 0;
  if (starts && fault != nullptr && !is_fault("lost-interrupt")) return;
  device->write(offset, value);
}

}  // namespace

uint32_t parse_words(const char** words, uint32_t count) {
  if (count == 0) return 0;
  if (count > 2 && std::strcmp(words[0], "-f") == 0) {
    for (const Fault& each : kFaults) {
      if (std::strcmp(each.name, words[1]) == 0) wanted_fault = &each;
    }
    const uint32_t more = wanted_fault == nullptr ? 0 : parse_words(words + 2, count - 2);
    return more == 0 ? 0 : 2 + more;
  }
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
  uint8_t* const fast = fast_bytes != 0 ? memory.take(memory.user, fast_bytes) : nullptr;
  npu.base = kBoardNpu;
  npu.fast_memory = fast;
  npu.fast_bytes = fast_bytes;
  if (simulated) {
    device = new (device_memory) Device(*config, workspace, workspace_bytes);
    (void)device->connect({const_cast<uint8_t*>(file), file_bytes, true});
    if (fast != nullptr) (void)device->connect({fast, fast_bytes});
    npu.read = read_register;
    npu.write = write_register;
    // A started stream has ended when the start returns.
    npu.polls = wanted_fault != nullptr ? kFaultPolls : 1;
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

bool set_fault(bool on) {
  fault = on ? wanted_fault : nullptr;
  return wanted_fault != nullptr;
}

void write_report_lines(void*, void (*)(void*, const char*)) {}

}  // namespace thimble::firmware
