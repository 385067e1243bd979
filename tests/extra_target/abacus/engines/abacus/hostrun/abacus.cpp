// SPDX-License-Identifier: Apache-2.0
#include "engines/abacus/hostrun/abacus.h"

#include "engines/abacus/delegate/backend.h"
#include "engines/abacus/model/model.h"

namespace thimble::hostrun {
namespace {

class AbacusDevice : public Device {
 public:
  [[nodiscard]] runtime::DelegateBackend row() const override {
    return runtime::abacus::backend(&driver_);
  }

 private:
  runtime::abacus::Driver driver_ = {abacus::run};
};

Result<std::unique_ptr<Device>> open_device(const formats::pte::Program& /*program*/,
                                            std::string_view /*label*/) {
  return std::unique_ptr<Device>(std::make_unique<AbacusDevice>());
}

}  // namespace

std::vector<DeviceKind> abacus_devices() {
  return {{abacus::kDelegateId, nullptr, open_device, "runner-abacus",
           "engines/abacus/delegate/backend.h", "abacus", "abacus_npu"}};
}

}  // namespace thimble::hostrun
