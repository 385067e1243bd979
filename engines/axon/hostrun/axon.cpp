// SPDX-License-Identifier: Apache-2.0
#include "engines/axon/hostrun/axon.h"

#include <cstring>
#include <string>
#include <vector>

#include "base/aligned_bytes.h"
#include "engines/axon/container/layers.h"
#include "engines/axon/container/marker.h"
#include "engines/axon/container/program.h"
#include "engines/axon/delegate/backend.h"
#include "hostrun/npu_profile.h"

namespace thimble::hostrun {
namespace {

namespace pte = formats::pte;

Status check_axon_list(const Bytes& bytes, std::string_view label, size_t row) {
  const AlignedBytes copy(bytes);
  const uint8_t* const data = copy.data();
  const auto size = static_cast<uint32_t>(bytes.size());
  uint32_t layer = axon::kAbsent;
  const axon::Status status = axon::check(data, size, layer);
  if (status != axon::Status::kOk) {
    const std::string where = layer == axon::kAbsent ? "" : fmt::format("layer {}: ", layer);
    return bad_input("{}: delegate {}, {}: {}{}", label, row, axon::kDelegateId, where,
                     axon::status_text(status));
  }
  const axon::Header header = axon::Container(data).header();
  const uint64_t hash = axon::content_hash(data, header.bytes);
  if (hash == header.content_hash) return ok();
  return bad_input("{}: delegate {}, {}: {}: content hash {:016x}, the list has {:016x}", label,
                   row, axon::kDelegateId, header.name, hash, header.content_hash);
}

Status check_axon_lists(const pte::Program& program, std::string_view label) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (size_t i = 0; i < plan.delegates.size(); ++i) {
      const pte::BackendDelegate& row = plan.delegates[i];
      if (row.id != axon::kDelegateId) continue;
      THIMBLE_CHECK(check_axon_list(program.delegate_blobs[row.blob].bytes, label, i));
    }
  }
  return ok();
}

std::string_view operation_name(axon::Operation operation) {
  switch (operation) {
#define AXON_OPERATION(name, number, list_name, report_name) \
  case axon::Operation::k##name:                             \
    return report_name;
#include "engines/axon/container/operations.def"
#undef AXON_OPERATION
  }
  return "?";
}

/// Reads the estimates that the compiler has stored in the layer list.
NpuProfile axon_profile_of(const Bytes& bytes) {
  const AlignedBytes copy(bytes);
  const axon::Container list(copy.data());
  const axon::Header header = list.header();
  NpuProfile profile;
  profile.kind = "axon";
  profile.npu = "axon";
  profile.system = fmt::format("layer list {}", header.name);
  profile.cycles = header.cycles;
  double at = 0;
  for (uint32_t i = 0; i < header.layer_count; ++i) {
    const axon::LayerRecord layer = list.layer(i);
    const axon::Operand& output = layer.output;
    NpuOperation operation;
    operation.name =
        fmt::format("{} {}x{}x{}", operation_name(layer.operation), output.h, output.w, output.c);
    operation.word =
        (header.layers_offset + i * uint32_t{sizeof layer}) / uint32_t{sizeof(uint32_t)};
    operation.start = at;
    operation.end = at += layer.cycles;
    profile.operations.push_back(operation);
  }
  return profile;
}

/// The compiler has stored the cycles in the file; they do not depend on the system.
Result<std::vector<NpuProfile>> axon_profiles(const pte::Program& program, std::string_view label,
                                              std::span<const NpuSystem> /*systems*/) {
  THIMBLE_CHECK(check_axon_lists(program, label));
  std::vector<NpuProfile> profiles;
  const std::vector<pte::BackendDelegate>& delegates = program.plans[0].delegates;
  for (size_t i = 0; i < delegates.size(); ++i) {
    if (delegates[i].id != axon::kDelegateId) continue;
    profiles.push_back(axon_profile_of(program.delegate_blobs[delegates[i].blob].bytes));
    profiles.back().delegate = i;
  }
  return profiles;
}

class AxonDevice : public Device {
 public:
  [[nodiscard]] runtime::DelegateBackend row() const override {
    return runtime::axon::backend(&npu_);
  }

 private:
  thimble_axon npu_ = axon_model();
};

Result<std::unique_ptr<Device>> open_axon(const pte::Program& /*program*/,
                                          std::string_view /*label*/) {
  return std::unique_ptr<Device>(std::make_unique<AxonDevice>());
}

}  // namespace

thimble_axon axon_model() {
  thimble_axon npu = {};
  npu.run = thimble_axon_model_run;
  npu.load = thimble_axon_model_load;
  return npu;
}

std::vector<DeviceKind> axon_devices() {
  constexpr std::string_view kChip = "thimble_axon_chip";
  constexpr std::string_view kVendor = "engines/axon/delegate_vendor/backend.h";
  return {
      {.id = axon::kDelegateId,
       .check = check_axon_lists,
       .open = open_axon,
       .image = "runner-axon",
       .header = "engines/axon/delegate/backend.h",
       .cpp_namespace = "axon",
       .object = "thimble_axon_npu",
       .profile = axon_profiles},
      {abi::axon::kProgramId, nullptr, nullptr, "", kVendor, "axon_vendor::program", kChip},
      {abi::axon::kMarkerId, nullptr, nullptr, "", kVendor, "axon_vendor::marker", kChip},
  };
}

}  // namespace thimble::hostrun
