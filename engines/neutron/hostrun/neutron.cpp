// SPDX-License-Identifier: Apache-2.0
#include "engines/neutron/hostrun/neutron.h"

#include <cstring>
#include <map>
#include <mutex>

#include "base/aligned_bytes.h"
#include "engines/neutron/container/driver.h"
#include "engines/neutron/container/program.h"
#include "engines/neutron/delegate/backend.h"
#include "engines/neutron/formats/payload.h"
#include "hostrun/npu_profile.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;

Status check_list(const formats::neutron::Payload& payload, const std::string& where) {
  const std::string fault = formats::neutron::kernel_list_fault(payload.program, payload.weights);
  return fault.empty() ? ok() : bad_input("{}: {}", where, fault);
}

Status check_payload(const Bytes& bytes, const std::string& where) {
  const auto payload = formats::neutron::read_payload(bytes);
  if (!payload.ok()) return bad_input("{}: {}", where, payload.error().message);
  if (load_le<uint32_t>(payload->program, 0) == neutron::kMagic) {
    return check_list(*payload, where);
  }
  return unsupported(
      "{}: microcode runs only on the NPU. Compile without --neutron sdk to get a kernel list "
      "({}), "
      "which runs here",
      where, neutron::kDelegateId);
}

Status check_neutron_payloads(const pte::Program& program, std::string_view label) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (size_t i = 0; i < plan.delegates.size(); ++i) {
      const pte::BackendDelegate& row = plan.delegates[i];
      if (row.id != neutron::kDelegateId && row.id != neutron::kVendorDelegateId) continue;
      const Bytes& bytes = program.delegate_blobs[row.blob].bytes;
      THIMBLE_CHECK(check_payload(bytes, fmt::format("{}: delegate {}, {}", label, i, row.id)));
    }
  }
  return ok();
}

std::string operation_name(const neutron::KernelRecord& record) {
  std::string name = neutron::kernel_name(record.kernel);
  if (record.kernel == neutron::Kernel::kTable) {
    name += fmt::format(" {}", neutron::function_name(record.function));
  }
  const neutron::View& output = record.output;
  for (uint32_t k = 0; k < output.rank; ++k) {
    name += fmt::format("{}{}", k == 0 ? " " : "x", output.dims[k]);
  }
  return name;
}

NpuProfile profile_of(const Bytes& bytes) {
  const AlignedBytes copy(bytes);
  const neutron::Program program(copy.data());
  const neutron::Header header = program.header();
  NpuProfile profile;
  profile.kind = "neutron";
  profile.npu = "Neutron";
  profile.system = fmt::format("kernel list {:08x}", header.content_hash);
  profile.cycles = header.cycles;
  double at = 0;
  for (uint32_t i = 0; i < header.kernel_count; ++i) {
    const neutron::KernelRecord record = program.kernel(i);
    NpuOperation operation;
    operation.name = operation_name(record);
    operation.word = (header.kernels_offset + i * uint32_t{sizeof record}) / 4;
    operation.start = at;
    operation.end = at += record.cycles;
    operation.macs = record.macs;
    profile.operations.push_back(operation);
  }
  return profile;
}

/// The compiler has stored the cycles in the file, for the settings of the part.
Result<std::vector<NpuProfile>> profiles(const pte::Program& program, std::string_view label,
                                         std::span<const NpuSystem> /*systems*/) {
  THIMBLE_CHECK(check_neutron_payloads(program, label));
  std::vector<NpuProfile> profiles;
  const std::vector<pte::BackendDelegate>& delegates = program.plans[0].delegates;
  for (size_t i = 0; i < delegates.size(); ++i) {
    const pte::BackendDelegate& row = delegates[i];
    if (row.id != neutron::kDelegateId) continue;
    const Bytes& bytes = program.delegate_blobs[row.blob].bytes;
    THIMBLE_TRY(const formats::neutron::Payload payload, formats::neutron::read_payload(bytes));
    profiles.push_back(profile_of(payload.program));
    profiles.back().delegate = i;
  }
  return profiles;
}

/// A DMA that copies as late as possible: the bytes arrive at the wait. Before that the destination
/// holds 0xBB, so that a kernel list that reads too early computes another result. One transfer per
/// channel; the driver interface supports one NPU.
class LateDma {
 public:
  static void copy(void* to, void* from, uint32_t bytes, uint32_t channel) {
    wait(channel);
    std::memset(to, 0xBB, bytes);
    pending(channel) = {to, from, bytes};
  }
  static void wait(uint32_t channel) {
    Pending& at = pending(channel);
    if (at.bytes != 0) std::memcpy(at.to, at.from, at.bytes);
    at = {};
  }

 private:
  struct Pending {
    void* to = nullptr;
    const void* from = nullptr;
    uint32_t bytes = 0;
  };
  static Pending& pending(uint32_t channel) {
    static std::map<uint32_t, Pending> channels;
    return channels[channel];
  }
};

/// The driver interface has no argument for the NPU: its state belongs to the process, as do the
/// transfers of LateDma. Models of several threads use it one after the other.
std::mutex driver_mutex;

abi::Status locked_open(const runtime::DelegateBackend& self, const runtime::DelegateSource& source,
                        runtime::DelegateSlot& slot, uint32_t& scratch_bytes) {
  const std::lock_guard lock(driver_mutex);
  return runtime::neutron::open(self, source, slot, scratch_bytes);
}
abi::Status locked_check(runtime::DelegateSlot& slot, const runtime::DelegateMemory& memory,
                         const runtime::DelegateArgs& args) {
  const std::lock_guard lock(driver_mutex);
  return runtime::neutron::check(slot, memory, args);
}
abi::Status locked_run(const runtime::DelegateSlot& slot, const runtime::DelegateArgs& args) {
  const std::lock_guard lock(driver_mutex);
  return runtime::neutron::run(slot, args);
}

class NeutronDevice : public Device {
 public:
  explicit NeutronDevice(bool vendor) : vendor_(vendor) {
    npu_.error = &error_;
    npu_.memory = {LateDma::copy, LateDma::wait};
    const std::lock_guard lock(driver_mutex);
    (void)neutronInit();  // the model's version cannot fail
  }
  [[nodiscard]] runtime::DelegateBackend row() const override {
    runtime::DelegateBackend backend =
        vendor_ ? runtime::neutron::vendor_backend(&npu_) : runtime::neutron::backend(&npu_);
    backend.open = locked_open;
    backend.check = locked_check;
    backend.run = locked_run;
    return backend;
  }

  [[nodiscard]] std::string fault_text() const override {
    if (error_ == NEUTRON_NO_ERROR) return "";
    return fmt::format("category {}, code {}", NEUTRON_ERROR_CATEGORY(error_),
                       NEUTRON_ERROR_CODE(error_));
  }

 private:
  bool vendor_;
  int32_t error_ = 0;
  thimble_neutron npu_ = {};
};

template <bool kVendor>
Result<std::unique_ptr<Device>> open_neutron(const pte::Program& /*program*/,
                                             std::string_view /*label*/) {
  return std::unique_ptr<Device>(std::make_unique<NeutronDevice>(kVendor));
}

}  // namespace

std::vector<DeviceKind> neutron_devices() {
  constexpr std::string_view kImage = "runner-neutron";
  constexpr std::string_view kHeader = "engines/neutron/delegate/backend.h";
  constexpr std::string_view kDeviceSymbol = "thimble_neutron_npu";
  return {
      {.id = neutron::kDelegateId,
       .check = check_neutron_payloads,
       .open = open_neutron<false>,
       .image = kImage,
       .header = kHeader,
       .cpp_namespace = "neutron",
       .object = kDeviceSymbol,
       .has_memory = true,
       .profile = profiles},
      {.id = neutron::kVendorDelegateId,
       .check = check_neutron_payloads,
       .open = open_neutron<true>,
       .image = kImage,
       .header = kHeader,
       .cpp_namespace = "neutron",
       .object = kDeviceSymbol,
       .has_memory = true},
  };
}

}  // namespace thimble::hostrun
