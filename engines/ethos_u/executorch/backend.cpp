// SPDX-License-Identifier: Apache-2.0
// EthosUBackend for ExecuTorch's runtime.

#include "engines/ethos_u/delegate/backend.h"
#include "engines/ethos_u/container/payload.h"
#include "engines/ethos_u/executorch/npu.h"
#include "thimble_executorch_ethos_u.h"

namespace thimble::executorch {
namespace {

using abi::Status;
namespace engine = runtime::ethos_u;

class EthosU final : public Backend {
  Status choose_device(LoadedDelegate& delegate,
                       const runtime::DelegateSource& source) const override {
    delegate.row.id = abi::ethos_u::kDelegateId;
    const thimble_ethos_u* npu = nullptr;
    THIMBLE_RETURN_IF_ERROR(open_npu(delegate, source, npu));
    delegate.row = engine::backend(npu);
    return Status::kOk;
  }

  Status check_payload(LoadedDelegate& delegate, const runtime::ByteRegion&) const override {
    bool uses_fast = false;
    THIMBLE_RETURN_IF_ERROR(engine::check_payload(delegate.slot, uses_fast));
    if (!uses_fast) return Status::kOk;
    const engine::Bytes fast = fast_memory(delegate);
    engine::Job& job = engine::job_of(delegate.slot);
    job.fast = const_cast<uint8_t*>(fast.data);
    job.fast_bytes = fast.bytes;
    return fast.data != nullptr ? Status::kOk : Status::kNoFastMemory;
  }

  Status check_call(LoadedDelegate& delegate, const runtime::DelegateMemory& memory,
                    const runtime::DelegateArgs& args) const override {
    return engine::check_tensors(delegate.slot, memory, args);
  }

  void set_scratch(LoadedDelegate& delegate, uint8_t* scratch) const override {
    engine::Job& job = engine::job_of(delegate.slot);
    job.scratch = scratch;
    connect(delegate, job);
  }
};

}  // namespace
}  // namespace thimble::executorch

extern "C" __attribute__((visibility("default"))) int thimble_executorch_register_ethos_u(void) {
  static thimble::executorch::EthosU backend;
  return thimble::executorch::register_backend(thimble::abi::ethos_u::kDelegateId, backend) ? 0
                                                                                            : -1;
}
