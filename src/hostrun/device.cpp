// SPDX-License-Identifier: Apache-2.0
#include "hostrun/device.h"

#include "hostrun/npu_profile.h"

namespace thimble::hostrun {

namespace pte = formats::pte;

const std::vector<DeviceKind>& device_kinds() {
  static const std::vector<DeviceKind> kKinds = [] {
    std::vector<DeviceKind> kinds;
    for (DeviceList* const row : device_rows()) {
      for (const DeviceKind& kind : row()) kinds.push_back(kind);
    }
    return kinds;
  }();
  return kKinds;
}

bool calls(const pte::Program& program, std::string_view id) {
  for (const pte::ExecutionPlan& plan : program.plans) {
    for (const pte::BackendDelegate& row : plan.delegates) {
      if (row.id == id) return true;
    }
  }
  return false;
}

Result<std::vector<DeviceKind>> kinds_of(const pte::Program& program, std::string_view label) {
  std::vector<DeviceKind> kinds;
  for (const DeviceKind& kind : device_kinds()) {
    if (!calls(program, kind.id)) continue;
    if (kind.check != nullptr) THIMBLE_CHECK(kind.check(program, label));
    kinds.push_back(kind);
  }
  return kinds;
}

Result<std::vector<NpuProfile>> profiles_of(const pte::Program& program, std::string_view label,
                                            std::span<const NpuSystem> systems) {
  std::vector<NpuProfile> all;
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.profile == nullptr || !calls(program, kind.id)) continue;
    THIMBLE_TRY(const std::vector<NpuProfile> profiles, kind.profile(program, label, systems));
    all.insert(all.end(), profiles.begin(), profiles.end());
  }
  return all;
}

Result<std::string> image_of(const pte::Program& program, std::string_view label) {
  THIMBLE_TRY(const std::vector<DeviceKind> kinds, kinds_of(program, label));
  std::string image = "runner";
  std::string_view of;
  for (const DeviceKind& kind : kinds) {
    if (kind.image.empty() || kind.image == image) continue;
    if (!of.empty()) {
      return unsupported("{}: calls {} and {}: no firmware image has both", label, of, kind.id);
    }
    image = kind.image;
    of = kind.id;
  }
  return image;
}

Result<std::optional<FirmwareDevice>> firmware_device_of(const pte::Program& program,
                                                         std::string_view label) {
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.firmware == nullptr || !calls(program, kind.id)) continue;
    THIMBLE_TRY(FirmwareDevice device, kind.firmware(program, label));
    return std::optional<FirmwareDevice>(std::move(device));
  }
  return std::optional<FirmwareDevice>();
}

Status check_hazards(const pte::Program& program, std::string_view label) {
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.check_hazards == nullptr || !calls(program, kind.id)) continue;
    THIMBLE_CHECK(kind.check_hazards(program, label));
  }
  return ok();
}

}  // namespace thimble::hostrun
