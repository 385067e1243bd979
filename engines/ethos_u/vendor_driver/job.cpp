// SPDX-License-Identifier: Apache-2.0
// The functions of delegate/driver.h with Arm's ethos-u-core-driver, linked in place of
// delegate/driver.cpp. Arm's driver owns the registers, the interrupt, the ports of the memories,
// caches and the translation of addresses, with its own hooks; those of thimble_ethos_u.h are not
// called, and of thimble_npu only the fast memory is used. One driver serves all models.

#include "abi/freestanding.h"
#include "engines/ethos_u/delegate/driver.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/vendor_driver/core_driver.h"

// The application defines this object if a stream uses fast memory.
extern "C" __attribute__((weak)) const thimble_ethos_u thimble_npu = {};

namespace thimble::runtime::ethos_u {
namespace {

namespace isa = thimble::ethos_u;

constexpr uint32_t kPayloadHeaderMax = 256;

/// Returns the payload that ends with the stream. Arm's driver reads its header, which is stored in
/// front of the stream; the delegate has read it when it opened the file.
Bytes payload_of(const Bytes& stream) {
  for (uint32_t before = isa::kStreamAlignment; before <= kPayloadHeaderMax;
       before += isa::kStreamAlignment) {
    const Bytes payload = {stream.data - before, stream.bytes + before};
    isa::DriverPayload header;
    if (isa::read_driver_payload(payload.data, payload.bytes, header) &&
        header.stream_offset == before) {
      return payload;
    }
  }
  return {};
}

/// Arguments of a run. The driver keeps the addresses of both arrays while the NPU works.
struct Call {
  ethosu_driver* driver;
  Bytes payload;
  uint64_t addresses[3];
  size_t sizes[3];
  int count;
  [[nodiscard]] int payload_bytes() const { return static_cast<int>(payload.bytes); }
};

/// Fills the call, and reserves a driver.
Status reserve(const Job& job, Call& call) {
  call.payload = payload_of(job.stream);
  if (call.payload.data == nullptr) return Status::kBadPayload;
  const Bytes memories[] = {
      job.constants, {job.scratch, job.scratch_bytes}, {job.fast, job.fast_bytes}};
  for (uint32_t i = 0; i < 3; ++i) {
    call.addresses[i] = reinterpret_cast<uintptr_t>(memories[i].data);
    call.sizes[i] = memories[i].bytes;
  }
  call.count = job.fast != nullptr ? 3 : 2;
  call.driver = ethosu_reserve_driver();
  return call.driver != nullptr ? Status::kOk : Status::kMissingDelegate;
}

}  // namespace

Status check_npu(const thimble_ethos_u&, uint32_t config, uint32_t id) {
  ethosu_driver* const driver = ethosu_reserve_driver();
  if (driver == nullptr) return Status::kMissingDelegate;
  ethosu_hw_info npu = {};
  ethosu_get_hw_info(driver, &npu);
  ethosu_release_driver(driver);
  if (npu.cfg.macs_per_cc != isa::macs_log2_of(config)) return Status::kWrongMacs;
  const bool fits = npu.cfg.cmd_stream_version == isa::stream_version_of(config) &&
                    npu.version.arch_major_rev == isa::arch_major_of(id) &&
                    npu.version.arch_minor_rev >= isa::arch_minor_of(id) &&
                    (npu.cfg.custom_dma != 0 || !isa::custom_dma_of(config));
  return fits ? Status::kOk : Status::kNpuVersion;
}

uint32_t started_job_bytes() {
  return sizeof(Call);
}

Status start_job(const thimble_ethos_u&, const Job& job) {
  Call& call = *new (abi::Place{job.started}) Call;
  THIMBLE_RETURN_IF_ERROR(reserve(job, call));
  const int failed = ethosu_invoke_async(call.driver, call.payload.data, call.payload_bytes(),
                                         call.addresses, call.sizes, call.count, nullptr);
  if (failed == 0) return Status::kOk;
  ethosu_release_driver(call.driver);
  return Status::kNpuFault;
}

Status finish_job(const thimble_ethos_u&, const Job& job) {
  const Call& call = *static_cast<const Call*>(job.started);
  constexpr bool kBlock = true;
  const int failed = ethosu_wait(call.driver, kBlock);
  ethosu_release_driver(call.driver);
  return failed == 0 ? Status::kOk : Status::kNpuFault;
}

Status run_job(const thimble_ethos_u&, const Job& job) {
  Call call;
  THIMBLE_RETURN_IF_ERROR(reserve(job, call));
  const int failed = ethosu_invoke_v3(call.driver, call.payload.data, call.payload_bytes(),
                                      call.addresses, call.sizes, call.count, nullptr);
  ethosu_release_driver(call.driver);
  return failed == 0 ? Status::kOk : Status::kNpuFault;
}

}  // namespace thimble::runtime::ethos_u
