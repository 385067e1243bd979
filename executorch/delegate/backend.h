// SPDX-License-Identifier: Apache-2.0
#pragma once
// A delegate of an engine (engines/<name>/delegate) as a backend of ExecuTorch's runtime. This
// class does everything that is the same for all engines; engines/<name>/executorch/ has the rest.
//
//   init     opens and checks the payload, which stays in place. All memory is from the allocator
//            of the method, which also frees it.
//   execute  checks the tensors of the call, because init does not know them, and runs the engine's
//            delegate. Scratch memory is temporary: its address may differ from call to call.
//   destroy  releases what init has reserved: named data, the driver. The memory is the method's.

#include <executorch/runtime/backend/interface.h>

#include <optional>

#include "runtime/exec/delegates.h"

namespace thimble::executorch {

using Values = ::executorch::runtime::Span<::executorch::runtime::EValue*>;
using ::executorch::runtime::Error;

/// Offset of all tensors (delegate/args.cpp). The scratch memory of a call is smaller.
inline constexpr uint32_t kTensorOffset = 1U << 30;

/// The file and the memory that a delegate has while it is loaded.
class DelegateFile {
 public:
  explicit DelegateFile(::executorch::runtime::BackendInitContext& context)
      : allocator_(context.get_runtime_allocator()), named_data_(context.get_named_data_map()) {}

  /// Allocates memory that exists as long as the method, aligned to 16 bytes. Null: out of memory.
  [[nodiscard]] uint8_t* allocate(size_t bytes);
  [[nodiscard]] abi::Status find_data(const uint8_t* key, uint32_t key_bytes,
                                      runtime::ByteRegion& found);

 private:
  static constexpr uint32_t kBuffers = 4;  // commands and weights, for the engine and its simulator
  ::executorch::runtime::MemoryAllocator* allocator_;
  const ::executorch::runtime::NamedDataMap* named_data_;
  std::optional<::executorch::runtime::FreeableBuffer> buffers_[kBuffers];
};

/// A loaded delegate.
struct LoadedDelegate {
  explicit LoadedDelegate(::executorch::runtime::BackendInitContext& context) : file(context) {}
  DelegateFile file;
  runtime::DelegateBackend row = {};
  runtime::DelegateSlot slot;
  uint32_t scratch_bytes = 0;
  void* device = nullptr;   // belongs to the engine: a simulator of this delegate's NPU
  bool is_checked = false;  // true: check_payload() has accepted the payload
};

/// An event of a profile: an operation of the NPU and its estimated cycles.
struct DelegateEvent {
  const char* name;
  uint32_t cycles;
};

class Backend : public ::executorch::runtime::BackendInterface {
 public:
  using Result = ::executorch::runtime::Result<::executorch::runtime::DelegateHandle*>;

  [[nodiscard]] bool is_available() const override { return true; }
  [[nodiscard]] Result init(
      ::executorch::runtime::BackendInitContext& context,
      ::executorch::runtime::FreeableBuffer* processed,
      ::executorch::runtime::ArrayRef<::executorch::runtime::CompileSpec> specs) const final;
  [[nodiscard]] Error execute(::executorch::runtime::BackendExecutionContext& context,
                              ::executorch::runtime::DelegateHandle* handle,
                              Values args) const final;
  void destroy(::executorch::runtime::DelegateHandle* handle) const final;

  /// Option `profile`, a bool: whether calls write events to the event tracer. Default: true.
  [[nodiscard]] Error set_option(
      ::executorch::runtime::BackendOptionContext& context,
      const ::executorch::runtime::Span<::executorch::runtime::BackendOption>& options) final;
  [[nodiscard]] Error get_option(
      ::executorch::runtime::BackendOptionContext& context,
      ::executorch::runtime::Span<::executorch::runtime::BackendOption>& options) final;

 protected:
  /// Sets delegate.row: the functions of the engine, and the device that runs this payload.
  [[nodiscard]] virtual abi::Status choose_device(LoadedDelegate& delegate,
                                                  const runtime::DelegateSource& source) const = 0;
  /// Checks everything in the payload that does not depend on tensors. The slot is open.
  [[nodiscard]] virtual abi::Status check_payload(LoadedDelegate& delegate,
                                                  const runtime::ByteRegion& payload) const = 0;
  /// Releases what a successful check_payload() has reserved.
  virtual void close(LoadedDelegate& /*delegate*/) const {}
  /// Checks the tensors of a call. `memory` has no addresses.
  [[nodiscard]] virtual abi::Status check_call(LoadedDelegate& delegate,
                                               const runtime::DelegateMemory& memory,
                                               const runtime::DelegateArgs& args) const {
    return delegate.row.check(delegate.slot, memory, args);
  }
  /// Sets the scratch memory of the next run.
  virtual void set_scratch(LoadedDelegate& delegate, uint8_t* scratch) const = 0;
  /// Returns event `index` of the last call; nullopt after the last one.
  [[nodiscard]] virtual std::optional<DelegateEvent> event(const LoadedDelegate& delegate,
                                                           uint32_t index) const;

 private:
  [[nodiscard]] abi::Status open(LoadedDelegate& delegate,
                                 ::executorch::runtime::FreeableBuffer& processed) const;
  [[nodiscard]] abi::Status run(LoadedDelegate& delegate,
                                ::executorch::runtime::BackendExecutionContext& context,
                                Values values) const;
  bool profile_ = true;
};

/// Registers a backend; false if the runtime refuses it, for example because the id is in use.
bool register_backend(const char* id, Backend& delegate);

}  // namespace thimble::executorch
