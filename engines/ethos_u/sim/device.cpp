// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/sim/device.h"

#include <string.h>

#include "engines/ethos_u/isa/driver_payload.h"

namespace thimble::ethos_u::sim {
namespace {

uint32_t status_of(const Fault& fault, Generation generation) {
  switch (fault.kind) {
    case FaultKind::kNone:
      return reg::kEndReached | reg::kInterrupt;
    case FaultKind::kOutOfRange:
      return reg::kBusFault | reg::kInterrupt;
    case FaultKind::kBadWeights:
      return reg::kInterrupt |
             (generation == Generation::kU85 ? reg::kParseFault : reg::kWeightFault);
    case FaultKind::kCostLimit:
      return reg::kRunning;
    default:
      return reg::kParseFault | reg::kInterrupt;
  }
}

}  // namespace

Device::Device(const Config& config, uint8_t* workspace, size_t workspace_bytes)
    : config_(config), workspace_(workspace), workspace_bytes_(workspace_bytes) {
  reset(0);
}

bool Device::connect(const ByteRegion& memory) {
  if (memory_count_ == kMemories) return false;
  memories_[memory_count_++] = memory;
  return true;
}

void Device::reset(uint32_t level) {
  pending_ = false;
  memset(words_, 0, sizeof words_);
  words_[reg::kId / 4] = id_word(config_.generation);
  words_[reg::kConfig / 4] = config_word(config_);
  words_[reg::kProtection / 4] = level & (reg::kPrivileged | reg::kNonSecure);
}

uint32_t Device::read(uint32_t offset) {
  if (pending_ && offset == reg::kStatus) finish();
  return offset / 4 < kWords && offset % 4 == 0 ? word(offset) : 0;
}

void Device::write(uint32_t offset, uint32_t value) {
  if (offset / 4 >= kWords || offset % 4 != 0) return;
  uint32_t& status = words_[reg::kStatus / 4];
  switch (offset) {
    case reg::kId:
    case reg::kConfig:
    case reg::kStatus:
    case reg::kProtection:
    case reg::kQueueRead:
      return;  // read-only registers
    case reg::kReset:
      reset(value);
      return;
    case reg::kCommand:
      command(value);
      return;
    case reg::kQueueBase:
    case reg::kQueueBytes:
      status &= ~reg::kEndReached;
      break;
    default:
      break;
  }
  words_[offset / 4] = value;
}

void Device::command(uint32_t value) {
  uint32_t& status = words_[reg::kStatus / 4];
  words_[reg::kCommand / 4] = value & reg::kClockAndPower;
  if ((value & reg::kClearInterrupt) != 0) status &= ~reg::kInterrupt;
  // After a fault, only a reset allows the next run.
  const bool ready = (status & (reg::kRunning | reg::kFaults)) == 0;
  if ((value & reg::kRun) != 0 && ready) start();
}

/// Returns the memory from the address to the memory's end; empty if no memory contains the
/// address.
ByteRegion Device::memory_at(uint64_t address) const {
  for (uint32_t i = 0; i < memory_count_; ++i) {
    const ByteRegion& memory = memories_[i];
    const uint64_t begin = reinterpret_cast<uintptr_t>(memory.data);
    if (address < begin || address - begin >= memory.bytes) continue;
    return {memory.data + (address - begin), memory.bytes - (address - begin), memory.read_only};
  }
  return {};
}

Fault Device::run_stream() {
  const uint32_t bytes = word(reg::kQueueBytes);
  const uint64_t base = address(reg::kQueueBase);
  const ByteRegion stream = memory_at(base);
  if (stream.bytes < bytes)
    return fault_of(FaultKind::kOutOfRange, "the stream is outside every connected memory");
  if (base % kStreamAlignment != 0 || bytes % 4 != 0) {
    return fault_of(FaultKind::kMisaligned, "the stream is not at a multiple of 16 bytes");
  }
  Job job;
  job.config = &config_;
  job.words = reinterpret_cast<const uint32_t*>(stream.data);
  job.word_count = bytes / 4;
  for (uint32_t i = 0; i < reg::kBases; ++i) {
    job.regions[i] = memory_at(address(reg::kBase0 + 8 * i));
  }
  job.workspace = workspace_;
  job.workspace_bytes = workspace_bytes_;
  job.max_cost = max_work_;
  return run(job);
}

void Device::start() {
  ++runs_;
  pending_ = true;
  words_[reg::kStatus / 4] = reg::kRunning;
  if (!start_late_) finish();
}

void Device::finish() {
  pending_ = false;
  fault_ = run_stream();
  words_[reg::kStatus / 4] = status_of(fault_, config_.generation);
  words_[reg::kQueueRead / 4] = fault_.none() ? word(reg::kQueueBytes) : fault_.word * 4;
}

}  // namespace thimble::ethos_u::sim
