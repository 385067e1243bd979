// SPDX-License-Identifier: Apache-2.0
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
#include "firmware/common/command_line.h"
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
  if (!read_number(word, number)) usage_error("not a number:", word);
  return number;
}

namespace reg = ethos_u::reg;

/// A failure of the NPU. The stream is executed only if `late_polls` is not 0 or `loses_interrupt`
/// is set.
struct Fault {
  const char* name;
  uint32_t status = 0;           // read after the start
  uint32_t reset_status = 0;     // read before it
  bool other_level = false;      // the level after a reset is not the one that was written
  uint32_t late_polls = 0;       // the stream starts at this read of the status
  bool loses_interrupt = false;  // the status never has the bit of the interrupt
};
constexpr uint32_t kStopped = reg::kInterrupt;
constexpr uint32_t kFaultPolls = 64;  // before a timeout
constexpr uint32_t kLatePolls = 40;
constexpr Fault kFaults[] = {
    {.name = "hang", .status = reg::kRunning},
    {.name = "late", .status = reg::kRunning, .late_polls = kLatePolls},
    {.name = "bus", .status = reg::kBusFault | kStopped},
    {.name = "parse", .status = reg::kParseFault | kStopped},
    {.name = "weight", .status = reg::kWeightFault | kStopped},
    {.name = "ecc", .status = reg::kEccFault | kStopped},
    {.name = "branch", .status = reg::kBranchFault | kStopped},
    {.name = "ended-with-fault", .status = reg::kEndReached | reg::kBusFault | kStopped},
    {.name = "early-interrupt", .status = kStopped},
    {.name = "stop"},
    {.name = "lost-interrupt", .loses_interrupt = true},
    {.name = "endless-reset", .reset_status = reg::kResetting},
    {.name = "wrong-level", .other_level = true},
};

const Fault* wanted_fault;
const Fault* fault;  // null: none now
bool started;
uint32_t polls_since_start;

uint32_t read_register(void*, uint32_t offset) {
  if (fault == nullptr) return device->read(offset);
  if (offset == reg::kProtection && fault->other_level) return ~device->read(offset);
  if (offset != reg::kStatus) return device->read(offset);
  if (!started) return device->read(offset) | fault->reset_status;
  if (fault->loses_interrupt) return device->read(offset) & ~reg::kInterrupt;
  if (fault->late_polls != 0 && ++polls_since_start >= fault->late_polls) {
    if (polls_since_start == fault->late_polls) device->write(reg::kCommand, reg::kRun);
    return device->read(offset);
  }
  return fault->status;
}
void write_register(void*, uint32_t offset, uint32_t value) {
  if (offset == reg::kReset) started = false;
  const bool starts = offset == reg::kCommand && (value & reg::kRun) != 0;
  if (starts) {
    started = true;
    polls_since_start = 0;
  }
  if (starts && fault != nullptr && !fault->loses_interrupt) return;
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
  if (config == nullptr) usage_error("no such NPU:", words[1]);
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
