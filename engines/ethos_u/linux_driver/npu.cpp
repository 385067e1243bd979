// SPDX-License-Identifier: Apache-2.0
#include "engines/ethos_u/linux_driver/npu.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/delegate/stream_scan.h"
#include "engines/ethos_u/isa/config.h"
#include "engines/ethos_u/isa/driver_payload.h"
#include "engines/ethos_u/isa/registers.h"

namespace thimble::linux_npu {
namespace {

namespace isa = thimble::ethos_u;
namespace reg = thimble::ethos_u::reg;
using abi::Status;

constexpr int kDevicesMax = 64;  // of /dev/accel
/// Fast scratch of a file that does not state its size: the largest of Arm's memory modes.
constexpr uint32_t kFastBytesDefault = 512U << 10;

std::string reason(int error) {
  return std::strerror(error);
}

std::string npu_name(const NpuInfo& info) {
  const isa::Config* const config = isa::config_of(info.config);
  return config != nullptr ? config->name : "an unknown NPU";
}

}  // namespace

std::unique_ptr<Npu> Npu::open(const std::string& device, std::string* error) {
  std::unique_ptr<Npu> npu(new Npu);
  if (!device.empty()) {
    if (npu->query(device)) return npu;
    *error = npu->error_;
    return nullptr;
  }
  for (int i = 0; i < kDevicesMax; ++i) {
    const std::string path = "/dev/accel/accel" + std::to_string(i);
    if (access(path.c_str(), F_OK) == 0 && npu->query(path)) return npu;
  }
  *error = npu->error_.empty() ? "no Ethos-U: /dev/accel has no device" : npu->error_;
  return nullptr;
}

Npu::~Npu() {
  for (Prepared& prepared : prepared_) release(prepared);
  if (file_ >= 0) ::close(file_);
}

/// Opens the device, and checks that it is an Ethos-U with the interface of uapi.h.
bool Npu::query(const std::string& device) {
  if (file_ >= 0) ::close(file_);
  file_ = ::open(device.c_str(), O_RDWR | O_CLOEXEC);
  name_ = device;
  if (file_ < 0) {
    error_ = device + ": " + reason(errno);
    return false;
  }
  char driver[32] = {};
  Version version = {};
  version.name = driver;
  version.name_bytes = sizeof driver - 1;
  if (!request(kRequestVersion, &version, "query of the driver's version")) return false;
  if (std::strcmp(driver, kDriverName) != 0) {
    error_ = device + ": the driver is '" + driver + "', '" + kDriverName + "' was expected";
    return false;
  }
  if (version.major != kDriverMajor) {
    error_ = device + ": version " + std::to_string(version.major) +
             " of the kernel's driver, version " + std::to_string(kDriverMajor) + " was expected";
    return false;
  }
  Query query = {kQueryNpu, sizeof info_, reinterpret_cast<uintptr_t>(&info_)};
  if (!request(kRequestQuery, &query, "query of the NPU")) return false;
  name_ = device + " (" + npu_name(info_) + ")";
  error_.clear();
  registers_.read = [](void* user, uint32_t offset) {
    return static_cast<const Npu*>(user)->read(offset);
  };
  registers_.write = [](void* user, uint32_t offset, uint32_t value) {
    static_cast<Npu*>(user)->write(offset, value);
  };
  registers_.user = this;
  registers_.polls = 1;  // a started job has ended when the start returns
  // Represents the NPU's SRAM or a buffer of the kernel: prepare() selects which.
  alignas(16) static uint8_t fast[16];
  registers_.fast_memory = fast;
  registers_.fast_bytes =
      info_.sram_bytes > kFastBytesDefault ? info_.sram_bytes : kFastBytesDefault;
  return true;
}

runtime::DelegateBackend Npu::row() const {
  return {abi::ethos_u::kDelegateId, &registers_, runtime::ethos_u::open, check,
          runtime::ethos_u::run};
}

/// Returns false and sets error() if the kernel refuses the request.
bool Npu::request(unsigned long number, void* arguments, const char* what) {
  int result;
  do {
    result = ::ioctl(file_, number, arguments);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return true;
  error_ = name_ + ": " + what + ": " + reason(errno);
  return false;
}

bool Npu::create(size_t bytes, Buffer* buffer) {
  CreateBuffer create = {bytes != 0 ? bytes : 1, 0, 0};
  if (!request(kRequestCreateBuffer, &create, "a buffer for the NPU")) return false;
  buffer->handle = create.handle;
  MapBuffer map = {create.handle, 0, 0};
  if (!request(kRequestMap, &map, "the address of a buffer")) return false;
  void* const data = ::mmap(nullptr, create.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_,
                            static_cast<off_t>(map.offset));
  if (data == MAP_FAILED) {
    error_ =
        name_ + ": mapping a buffer of " + std::to_string(create.bytes) + " B: " + reason(errno);
    return false;
  }
  buffer->data = static_cast<uint8_t*>(data);
  buffer->bytes = create.bytes;
  return true;
}

void Npu::release(Prepared& prepared) const {
  for (const Buffer& buffer : prepared.buffers) {
    if (buffer.data != nullptr) ::munmap(buffer.data, buffer.bytes);
    CloseBuffer close = {buffer.handle, 0};
    if (buffer.handle != 0) ::ioctl(file_, kRequestClose, &close);
  }
  prepared.buffers.clear();
}

/// Creates the buffers of a delegate. The kernel refuses buffers of regions that the stream does
/// not use.
bool Npu::fill(const runtime::ethos_u::Job& job, Prepared* prepared) {
  runtime::ethos_u::StreamFacts facts;
  if (runtime::ethos_u::scan_stream(job.stream, isa::product_of(info_.config) == 2, facts) !=
      Status::kOk) {
    error_ = name_ + ": the command stream is damaged";
    return false;
  }
  const uint32_t used = facts.reads | facts.writes;
  CreateStream stream = {job.stream.bytes, 0, reinterpret_cast<uintptr_t>(job.stream.data), 0, 0};
  if (!request(kRequestCreateStream, &stream, "the command stream was refused")) return false;
  prepared->buffers.push_back({stream.handle, nullptr, 0});
  prepared->content.assign(job.stream.data, job.stream.data + job.stream.bytes);
  prepared->constants_bytes = job.constants.bytes;
  prepared->scratch_bytes = job.scratch_bytes;
  prepared->fast_bytes = job.fast_bytes;
  prepared->job.stream = stream.handle;
  const auto add = [&](uint32_t region, size_t bytes) -> uint8_t* {
    Buffer& buffer = prepared->buffers.emplace_back();
    if (!create(bytes, &buffer)) return nullptr;
    if ((used & 1U << region) != 0) prepared->job.regions[region] = buffer.handle;
    return buffer.data;
  };
  if (job.constants.bytes != 0) {
    uint8_t* const constants = add(runtime::ethos_u::kRegionConstants, job.constants.bytes);
    if (constants == nullptr) return false;
    std::memcpy(constants, job.constants.data, job.constants.bytes);
    prepared->constants = constants;
  }
  prepared->scratch = add(runtime::ethos_u::kRegionScratch, job.scratch_bytes);
  if (prepared->scratch == nullptr) return false;
  if (job.fast_bytes == 0) return true;
  if (job.fast_bytes <= info_.sram_bytes) {
    prepared->job.sram_bytes = job.fast_bytes;
    return true;
  }
  return add(kSramRegion, job.fast_bytes) != nullptr;
}

bool Npu::is_same(const Prepared& prepared, const runtime::ethos_u::Job& job) {
  const auto equal = [](const uint8_t* a, size_t a_bytes, const runtime::ethos_u::Bytes& b) {
    return a_bytes == b.bytes && (a_bytes == 0 || std::memcmp(a, b.data, a_bytes) == 0);
  };
  return prepared.scratch_bytes == job.scratch_bytes && prepared.fast_bytes == job.fast_bytes &&
         equal(prepared.content.data(), prepared.content.size(), job.stream) &&
         equal(prepared.constants, prepared.constants_bytes, job.constants);
}

/// Moves the job's scratch to a buffer of the kernel. Models of one file in one arena share their
/// buffers; those of a model that was loaded before at the same addresses are released.
Status Npu::prepare(runtime::ethos_u::Job& job, const uint8_t* arena) {
  for (auto each = prepared_.begin(); each != prepared_.end(); ++each) {
    if (each->stream != job.stream.data || each->weights != job.constants.data ||
        each->arena != arena)
      continue;
    if (is_same(*each, job)) {
      job.scratch = each->scratch;
      return Status::kOk;
    }
    release(*each);
    prepared_.erase(each);
    break;
  }
  Prepared prepared;
  prepared.stream = job.stream.data;
  prepared.weights = job.constants.data;
  prepared.arena = arena;
  if (!fill(job, &prepared)) {
    release(prepared);
    return Status::kDriverError;
  }
  job.scratch = prepared.scratch;
  prepared_.push_back(std::move(prepared));
  return Status::kOk;
}

Status Npu::check(runtime::DelegateSlot& slot, const runtime::DelegateMemory& memory,
                  const runtime::DelegateArgs& args) {
  const Status status = runtime::ethos_u::check(slot, memory, args);
  if (status != Status::kOk || memory.scratch == nullptr) return status;
  const auto& registers = *static_cast<const thimble_ethos_u*>(slot.backend->device);
  return static_cast<Npu*>(registers.user)->prepare(runtime::ethos_u::job_of(slot), memory.scratch);
}

uint32_t Npu::read(uint32_t offset) const {
  switch (offset) {
    case reg::kId:
      return info_.id;
    case reg::kConfig:
      return info_.config;
    case reg::kStatus:
      return status_;
    case reg::kProtection:
      return protection_;
    default:
      return 0;
  }
}

void Npu::write(uint32_t offset, uint32_t value) {
  constexpr uint32_t kScratchBase = reg::kBase0 + 8 * runtime::ethos_u::kRegionScratch;
  if (offset == reg::kReset) {
    protection_ = value;
    status_ = 0;
  } else if (offset == kScratchBase) {
    scratch_base_ = value;
  } else if (offset == kScratchBase + 4) {
    scratch_base_ |= uint64_t{value} << 32;
  } else if (offset == reg::kCommand && (value & reg::kRun) != 0) {
    status_ = reg::kBusFault;
    for (const Prepared& prepared : prepared_) {
      if (reinterpret_cast<uintptr_t>(prepared.scratch) == scratch_base_) status_ = start(prepared);
    }
  }
}

/// Submits the job and waits for its end. Returns the register STATUS.
uint32_t Npu::start(const Prepared& prepared) {
  error_.clear();
  Submit submit = {reinterpret_cast<uintptr_t>(&prepared.job), 1, 0};
  if (!request(kRequestSubmit, &submit, "the job was refused")) return reg::kBusFault;
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  constexpr int64_t kNanosecondsPerMs = 1000000;
  // The kernel marks the buffers that the job writes; scratch is always one of them.
  WaitForBuffer wait = {
      prepared.job.regions[runtime::ethos_u::kRegionScratch], 0,
      now.tv_sec * 1000 * kNanosecondsPerMs + now.tv_nsec + timeout_ms_ * kNanosecondsPerMs};
  if (request(kRequestWait, &wait, "waiting for the NPU")) return reg::kEndReached;
  if (errno != ETIME && errno != ETIMEDOUT && errno != EBUSY) return reg::kBusFault;
  error_ = name_ + ": the NPU did not finish in " + std::to_string(timeout_ms_) + " ms";
  return reg::kRunning;
}

}  // namespace thimble::linux_npu
