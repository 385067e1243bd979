// SPDX-License-Identifier: Apache-2.0
// ThimbleAxonModel for ExecuTorch's runtime: layer lists, executed by the driver of
// thimble_axon_npu.

#include "engines/axon/container/layers.h"
#include "engines/axon/delegate/backend.h"
#include "executorch/delegate/backend.h"
#include "thimble_executorch_axon.h"

namespace thimble::executorch {
namespace {

using abi::Status;
namespace npu = thimble::axon;

const char* operation_name(npu::Operation operation) {
  switch (operation) {
#define AXON_OPERATION(name, number, list_name, report_name) \
  case npu::Operation::k##name:                              \
    return report_name;
#include "engines/axon/container/operations.def"
#undef AXON_OPERATION
  }
  return "?";
}

class AxonModel final : public Backend {
  Status choose_device(LoadedDelegate& delegate, const runtime::DelegateSource&) const override {
    delegate.row = runtime::axon::backend(&thimble_axon_npu);
    return Status::kOk;
  }

  Status check_payload(LoadedDelegate& delegate,
                       const runtime::ByteRegion& payload) const override {
    if (npu::check(payload.data, payload.bytes) != npu::Status::kOk) return Status::kBadPayload;
    const npu::Container list(payload.data);
    const npu::Header header = list.header();
    if (npu::content_hash(payload.data, header.bytes) != header.content_hash) {
      return Status::kBadPayload;
    }
    delegate.device = const_cast<uint8_t*>(payload.data);  // for event(), which only reads it
    return Status::kOk;
  }

  void set_scratch(LoadedDelegate& delegate, uint8_t* scratch) const override {
    runtime::axon::set_scratch(delegate.slot, scratch);
  }

  std::optional<DelegateEvent> event(const LoadedDelegate& delegate,
                                     uint32_t index) const override {
    const npu::Container list(static_cast<const uint8_t*>(delegate.device));
    if (index >= list.header().layer_count) return std::nullopt;
    const npu::LayerRecord layer = list.layer(index);
    return DelegateEvent{operation_name(layer.operation), layer.cycles};
  }
};

}  // namespace
}  // namespace thimble::executorch

extern "C" __attribute__((visibility("default"))) int thimble_executorch_register_axon(void) {
  static thimble::executorch::AxonModel backend;
  return thimble::executorch::register_backend(thimble::axon::kDelegateId, backend) ? 0 : -1;
}
