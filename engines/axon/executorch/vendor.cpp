// SPDX-License-Identifier: Apache-2.0
// AxonBackend for ExecuTorch's runtime: programs that are linked into the firmware. The file has
// only their names.

#include "engines/axon/container/marker.h"
#include "engines/axon/delegate_vendor/backend.h"
#include "executorch/delegate/backend.h"
#include "thimble_executorch_axon.h"

namespace thimble::executorch {
namespace {

using abi::Status;
namespace vendor = runtime::axon_vendor::marker;

class AxonVendor final : public Backend {
  Status choose_device(LoadedDelegate& delegate, const runtime::DelegateSource&) const override {
    delegate.row = {abi::axon::kMarkerId, &thimble_axon_chip, vendor::open, vendor::check,
                    vendor::run};
    return Status::kOk;
  }
  /// open() has checked the name and found the program.
  Status check_payload(LoadedDelegate&, const runtime::ByteRegion&) const override {
    return Status::kOk;
  }
  /// The vendor's driver has the memory.
  void set_scratch(LoadedDelegate&, uint8_t*) const override {}
};

}  // namespace
}  // namespace thimble::executorch

extern "C" __attribute__((visibility("default"))) int thimble_executorch_register_axon_vendor(
    void) {
  static thimble::executorch::AxonVendor backend;
  return thimble::executorch::register_backend(thimble::abi::axon::kMarkerId, backend) ? 0 : -1;
}
