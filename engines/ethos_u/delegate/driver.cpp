// SPDX-License-Identifier: Apache-2.0
// Sequence of one run: reset and wait; AXI limits of the ports; QBASE, QSIZE, QCONFIG, BASEP,
// REGIONCFG; run; wait; read the status; clear the interrupt. The NPU is reset before each job,
// because its state after the previous job is unknown. It is also reset after a failed job, so that
// it stops accessing memory. Values of the port registers are those of Arm's driver; sources in
// docs/ethos-u.md.

#include "engines/ethos_u/delegate/driver.h"

#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/registers.h"

namespace thimble::runtime::ethos_u {
namespace {

namespace isa = thimble::ethos_u;
namespace reg = thimble::ethos_u::reg;
using abi::MemoryMode;

constexpr uint32_t kPollsDefault = 1U << 28;
constexpr uint32_t kResetPolls = 100000;
constexpr uint32_t kProductU55 = 0;
constexpr uint32_t kProductU65 = 1;
constexpr uint32_t kProductU85 = 2;

uint32_t read(const thimble_ethos_u& npu, uint32_t offset) {
  if (npu.read != nullptr) return npu.read(npu.user, offset);
  return *reinterpret_cast<const volatile uint32_t*>(npu.base + offset);
}

void write(const thimble_ethos_u& npu, uint32_t offset, uint32_t value) {
  if (npu.write != nullptr) {
    npu.write(npu.user, offset, value);
  } else {
    *reinterpret_cast<volatile uint32_t*>(npu.base + offset) = value;
  }
}

/// Writes a 64-bit address. On the U55 the upper register has no effect, so it is written only if
/// it is not 0.
void write_address(const thimble_ethos_u& npu, uint32_t product, uint32_t offset,
                   const void* data) {
  const uint64_t address = data != nullptr ? thimble_ethos_u_address(&npu, data) : 0;
  const auto high = static_cast<uint32_t>(address >> 32);
  write(npu, offset, static_cast<uint32_t>(address));
  if (product != kProductU55 || high != 0) write(npu, offset + 4, high);
}

/// Entries of the port registers (0, 1: the SRAM's port; 2, 3: the other port) for the stream and
/// for the regions 0, 1, 2.
struct Ports {
  uint8_t queue;
  uint8_t regions[3];
};
Ports ports_of(MemoryMode mode, uint32_t product) {
  // A stream for the U65 without a memory mode is treated as Dedicated_Sram, as in Arm's driver.
  if (mode == MemoryMode::kUnknown && product == kProductU65) mode = MemoryMode::kDedicatedSram;
  switch (mode) {
    case MemoryMode::kSramOnly:
      return {1, {1, 0, 0}};
    case MemoryMode::kDedicatedSram:
      return {3, {3, 3, 0}};
    default:
      return {2, {3, 0, 1}};
  }
}

Status reset(const thimble_ethos_u& npu) {
  const uint32_t level =
      (npu.unprivileged != 0 ? 0 : reg::kPrivileged) | (npu.non_secure != 0 ? reg::kNonSecure : 0);
  write(npu, reg::kReset, level);
  for (uint32_t i = 0; i < kResetPolls; ++i) {
    if ((read(npu, reg::kStatus) & reg::kResetting) != 0) continue;
    return read(npu, reg::kProtection) == level ? Status::kOk : Status::kNpuFault;
  }
  return Status::kNpuTimeout;
}

/// Sets the maximum number of outstanding transactions and the longest bursts. The hardware caps
/// values that it does not support.
void set_up_ports(const thimble_ethos_u& npu, uint32_t product) {
  if (product == kProductU85) {
    constexpr uint32_t kExternalPort = 1U << 2;
    for (uint32_t i = 0; i < 4; ++i) {
      write(npu, reg::kMemoryAttribute0 + 4 * i, i < 2 ? 0 : kExternalPort);
    }
    constexpr uint32_t kLongBursts = 2U << 16;
    write(npu, reg::kAxiSram, (12 - 1) | (16 - 1) << 8 | kLongBursts);
    write(npu, reg::kAxiExternal, (64 - 1) | (32 - 1) << 8 | kLongBursts);
    write(npu, reg::kPowerControl, 0);
    return;
  }
  const uint32_t reads = product == kProductU65 ? 64 : 32;
  for (uint32_t i = 0; i < 4; ++i) {
    write(npu, reg::kAxiLimit0 + 4 * i, (reads - 1) << 16 | (reads / 2 - 1) << 24);
  }
}

void start(const thimble_ethos_u& npu, const Job& job, uint32_t product) {
  const auto own = static_cast<MemoryMode>(npu.memory_mode);
  const Ports ports = ports_of(own != MemoryMode::kUnknown ? own : job.mode, product);
  write_address(npu, product, reg::kQueueBase, job.stream.data);
  write(npu, reg::kQueueBytes, job.stream.bytes);
  write(npu, reg::kQueueConfig, ports.queue);
  const void* const bases[] = {job.constants.data, job.scratch, job.fast};
  uint32_t regions = 0;
  for (uint32_t i = 0; i < reg::kBases; ++i) {
    write_address(npu, product, reg::kBase0 + 8 * i, i < 3 ? bases[i] : nullptr);
    regions |= (i < 3 ? ports.regions[i] : 0U) << (2 * i);
  }
  write(npu, reg::kRegionConfig, regions);
  write(npu, reg::kCommand, (read(npu, reg::kCommand) & reg::kClockAndPower) | reg::kRun);
}

Status finish(const thimble_ethos_u& npu) {
  const uint32_t polls = npu.polls != 0 ? npu.polls : kPollsDefault;
  uint32_t status = 0;
  for (uint32_t i = 0; i < polls; ++i) {
    thimble_ethos_u_wait(&npu);
    status = read(npu, reg::kStatus);
    if ((status & reg::kInterrupt) != 0 || (status & reg::kRunning) == 0) break;
  }
  const bool ended = (status & reg::kEndReached) != 0 && (status & reg::kFaults) == 0;
  if (ended) {
    const uint32_t power = read(npu, reg::kCommand) & reg::kClockAndPower;
    write(npu, reg::kCommand, power | reg::kClearInterrupt);
    return Status::kOk;
  }
  thimble_ethos_u_fault(&npu, status, read(npu, reg::kQueueRead));
  const bool endless =
      (status & (reg::kFaults | reg::kInterrupt)) == 0 && (status & reg::kRunning) != 0;
  (void)reset(npu);
  return endless ? Status::kNpuTimeout : Status::kNpuFault;
}

void clean(const thimble_ethos_u& npu, const void* data, uint32_t bytes) {
  if (bytes != 0) thimble_ethos_u_clean(&npu, data, bytes);
}

Status start_locked(const thimble_ethos_u& npu, const Job& job) {
  clean(npu, job.stream.data, job.stream.bytes);
  clean(npu, job.constants.data, job.constants.bytes);
  clean(npu, job.scratch, job.scratch_bytes);
  clean(npu, job.fast, job.fast_bytes);
  THIMBLE_RETURN_IF_ERROR(reset(npu));
  const uint32_t product = isa::product_of(read(npu, reg::kConfig));
  set_up_ports(npu, product);
  start(npu, job, product);
  return Status::kOk;
}

}  // namespace

Status check_npu(const thimble_ethos_u& npu, uint32_t config, uint32_t id) {
  const uint32_t own = read(npu, reg::kConfig);
  const uint32_t own_id = read(npu, reg::kId);
  if (isa::product_of(own) != isa::product_of(config)) return Status::kWrongNpu;
  if (isa::macs_log2_of(own) != isa::macs_log2_of(config)) return Status::kWrongMacs;
  const bool same_ports =
      isa::product_of(own) != kProductU85 || isa::axi_ports_of(own) == isa::axi_ports_of(config);
  const bool fits = isa::stream_version_of(own) == isa::stream_version_of(config) &&
                    isa::arch_major_of(own_id) == isa::arch_major_of(id) &&
                    isa::arch_minor_of(own_id) >= isa::arch_minor_of(id) && same_ports &&
                    (isa::custom_dma_of(own) || !isa::custom_dma_of(config));
  return fits ? Status::kOk : Status::kNpuVersion;
}

uint32_t started_job_bytes() {
  return 0;
}

Status start_job(const thimble_ethos_u& npu, const Job& job) {
  thimble_ethos_u_lock(&npu);
  const Status status = start_locked(npu, job);
  if (status != Status::kOk) thimble_ethos_u_unlock(&npu);
  return status;
}

Status finish_job(const thimble_ethos_u& npu, const Job& job) {
  const Status status = finish(npu);
  thimble_ethos_u_invalidate(&npu, job.scratch, job.scratch_bytes);
  if (job.fast_bytes != 0) thimble_ethos_u_invalidate(&npu, job.fast, job.fast_bytes);
  thimble_ethos_u_unlock(&npu);
  return status;
}

Status run_job(const thimble_ethos_u& npu, const Job& job) {
  THIMBLE_RETURN_IF_ERROR(start_job(npu, job));
  return finish_job(npu, job);
}

}  // namespace thimble::runtime::ethos_u
