// SPDX-License-Identifier: Apache-2.0
// NeutronBackend and ThimbleNeutronModel for ExecuTorch's runtime: microcode and kernel lists,
// executed by the linked driver.

#include "engines/neutron/delegate/backend.h"
#include "engines/neutron/container/payload.h"
#include "engines/neutron/container/program.h"
#include "executorch/delegate/backend.h"
#include "thimble_executorch_neutron.h"

namespace thimble::executorch {
namespace {

using abi::Status;
namespace engine = runtime::neutron;
namespace format = abi::neutron;
namespace npu = thimble::neutron;

/// Compares the memory orders in the header with those in the kernel list.
Status check_formats(const format::PayloadView& view) {
  const npu::Program program(view.program);
  for (uint32_t i = 0; i < view.input_count; ++i) {
    if (program.input(i).channels_last != view.input_formats[i]) return Status::kBadPayload;
  }
  for (uint32_t i = 0; i < view.output_count; ++i) {
    if (program.output(i).channels_last != view.output_formats[i]) return Status::kBadPayload;
  }
  return Status::kOk;
}

bool are_zeros(const uint8_t* from, const uint8_t* to) {
  while (from != to && *from == 0) ++from;
  return from == to;
}

/// Checks the bytes that the hash of the kernel list does not include: padding, and blocks that a
/// kernel list does not have.
Status check_padding(const format::PayloadView& view, const runtime::ByteRegion& payload) {
  const uint8_t* const header_end =
      payload.data + format::kFirstFormat + 2 * (view.input_count + view.output_count) + 1;
  const bool zeros = are_zeros(header_end, view.program) &&
                     are_zeros(view.program + view.program_bytes, view.weights) &&
                     are_zeros(view.weights + view.weight_bytes, view.kernels) &&
                     are_zeros(view.kernels, payload.data + payload.bytes);
  return zeros ? Status::kOk : Status::kBadPayload;
}

class Neutron final : public Backend {
 public:
  explicit Neutron(runtime::DelegateBackend (*row)(const thimble_neutron*)) : row_(row) {}

 private:
  Status choose_device(LoadedDelegate& delegate, const runtime::DelegateSource&) const override {
    delegate.row = row_(&thimble_neutron_npu);
    return Status::kOk;
  }

  Status check_payload(LoadedDelegate& delegate,
                       const runtime::ByteRegion& payload) const override {
    format::PayloadView view;
    format::PayloadProblem problem;
    if (!format::read_payload(payload.data, payload.bytes, view, problem)) {
      return Status::kBadPayload;
    }
    if (view.magic == npu::kMagic) {
      uint32_t kernel;
      if (npu::check(view.program, view.program_bytes, view.weights, view.weight_bytes, kernel) !=
          npu::Status::kOk) {
        return Status::kBadPayload;
      }
      THIMBLE_RETURN_IF_ERROR(check_formats(view));
      THIMBLE_RETURN_IF_ERROR(check_padding(view, payload));
      delegate.device = const_cast<uint8_t*>(view.program);  // for event(), which only reads it
    }
    const uint32_t bytes = engine::persistent_bytes(delegate.row);
    uint8_t* const persistent = bytes != 0 ? delegate.file.allocate(bytes) : nullptr;
    if (bytes != 0 && persistent == nullptr) return Status::kArenaTooSmall;
    return engine::prepare(delegate.slot, persistent);
  }

  void close(LoadedDelegate& delegate) const override { engine::unprepare(delegate.slot); }

  void set_scratch(LoadedDelegate& delegate, uint8_t* scratch) const override {
    engine::set_scratch(delegate.slot, scratch);
  }

  std::optional<DelegateEvent> event(const LoadedDelegate& delegate,
                                     uint32_t index) const override {
    if (delegate.device == nullptr) return std::nullopt;
    const npu::Program program(static_cast<const uint8_t*>(delegate.device));
    if (index >= program.header().kernel_count) return std::nullopt;
    const npu::KernelRecord kernel = program.kernel(index);
    return DelegateEvent{npu::kernel_name(kernel.kernel), kernel.cycles};
  }

  runtime::DelegateBackend (*row_)(const thimble_neutron*);
};

}  // namespace
}  // namespace thimble::executorch

extern "C" __attribute__((visibility("default"))) int thimble_executorch_register_neutron(void) {
  using namespace thimble::executorch;
  static Neutron lists(engine::backend);
  static Neutron microcode(engine::vendor_backend);
  const bool registered = register_backend(npu::kDelegateId, lists) &&
                          register_backend(npu::kVendorDelegateId, microcode);
  return registered ? 0 : -1;
}
