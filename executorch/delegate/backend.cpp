// SPDX-License-Identifier: Apache-2.0
#include "executorch/delegate/backend.h"

#include <executorch/runtime/core/event_tracer_hooks_delegate.h>

#include <cstring>
#include <new>
#include <string_view>

#include "executorch/status.h"
#include "executorch/tensor.h"
#include "thimble.h"

namespace thimble::executorch {

namespace et = ::executorch::runtime;
using abi::Status;

namespace {

constexpr char kProfileOption[] = "profile";
/// Events have names, so they have no id (docs of event_tracer_hooks_delegate.h).
constexpr et::DebugHandle kNoDebugId = static_cast<et::DebugHandle>(et::kUnsetDelegateDebugIntId);

void log_status(const char* id, Status status) {
  ET_LOG(Error, "%s: %s", id, thimble_status_text(static_cast<thimble_status>(status)));
}

Status check_values(Values values) {
  for (const et::EValue* const value : values) {
    if (!value->isTensor()) return Status::kUnsupported;
    kernels::Tensor tensor;
    THIMBLE_RETURN_IF_ERROR(view_tensor(value->toTensor(), tensor));
  }
  return Status::kOk;
}

}  // namespace

uint8_t* DelegateFile::allocate(size_t bytes) {
  return static_cast<uint8_t*>(allocator_->allocate(bytes, abi::kArenaAlignment));
}

Status DelegateFile::find_data(const uint8_t* key, uint32_t key_bytes, runtime::ByteRegion& found) {
  if (named_data_ == nullptr) return Status::kMissingData;
  for (auto& buffer : buffers_) {
    if (buffer.has_value()) continue;
    auto data =
        named_data_->get_data(std::string_view(reinterpret_cast<const char*>(key), key_bytes));
    if (!data.ok()) return Status::kMissingData;
    buffer.emplace(std::move(data.get()));
    if (buffer->size() > abi::kArenaBytesMax) return Status::kUnsupported;
    found = {static_cast<const uint8_t*>(buffer->data()), static_cast<uint32_t>(buffer->size())};
    return Status::kOk;
  }
  return Status::kUnsupported;
}

std::optional<DelegateEvent> Backend::event(const LoadedDelegate&, uint32_t) const {
  return std::nullopt;
}

Status Backend::open(LoadedDelegate& delegate, et::FreeableBuffer& processed) const {
  if (processed.size() > abi::kArenaBytesMax) return Status::kBadPayload;
  runtime::ByteRegion payload = {static_cast<const uint8_t*>(processed.data()),
                                 static_cast<uint32_t>(processed.size())};
  if (payload.bytes == 0) return Status::kBadPayload;
  if (reinterpret_cast<uintptr_t>(payload.data) % abi::kArenaAlignment != 0) {
    uint8_t* const copy = delegate.file.allocate(payload.bytes);
    if (copy == nullptr) return Status::kArenaTooSmall;
    std::memcpy(copy, payload.data, payload.bytes);
    payload.data = copy;
  }
  const runtime::DelegateSource source = {&delegate.file, payload};
  THIMBLE_RETURN_IF_ERROR(choose_device(delegate, source));
  delegate.slot.backend = &delegate.row;
  THIMBLE_RETURN_IF_ERROR(
      delegate.row.open(delegate.row, source, delegate.slot, delegate.scratch_bytes));
  if (delegate.scratch_bytes >= kTensorOffset) return Status::kBadPayload;
  THIMBLE_RETURN_IF_ERROR(check_payload(delegate, payload));
  delegate.is_checked = true;
  return Status::kOk;
}

Backend::Result Backend::init(et::BackendInitContext& context, et::FreeableBuffer* processed,
                              et::ArrayRef<et::CompileSpec> /*specs*/) const {
  auto* const memory = context.get_runtime_allocator()->allocateInstance<LoadedDelegate>();
  if (memory == nullptr) return Error::MemoryAllocationFailed;
  auto* const delegate = new (memory) LoadedDelegate(context);
  const Status status = open(*delegate, *processed);
  if (status == Status::kOk) return delegate;
  log_status(delegate->row.id != nullptr ? delegate->row.id : "delegate", status);
  destroy(delegate);
  return payload_error(status);
}

Status Backend::run(LoadedDelegate& delegate, et::BackendExecutionContext& context,
                    Values values) const {
  THIMBLE_RETURN_IF_ERROR(check_values(values));
  alignas(4) const uint32_t count = static_cast<uint32_t>(values.size());
  // A vector of which only the count is read: the members of DelegateArgs read `values`.
  const runtime::DelegateArgs args = {&values, {reinterpret_cast<runtime::Position>(&count)}};
  THIMBLE_RETURN_IF_ERROR(check_call(delegate, {}, args));
  uint32_t bytes = delegate.scratch_bytes;
  if (delegate.row.call_scratch != nullptr) {
    const uint32_t more = delegate.row.call_scratch(delegate.slot, args);
    if (more >= kTensorOffset - bytes) return Status::kBadPayload;
    bytes += more;
  }
  uint8_t* scratch = nullptr;
  if (bytes != 0) {
    scratch = static_cast<uint8_t*>(context.allocate(bytes, abi::kArenaAlignment));
    if (scratch == nullptr) return Status::kArenaTooSmall;
  }
  set_scratch(delegate, scratch);
  return delegate.row.run(delegate.slot, args);
}

Error Backend::execute(et::BackendExecutionContext& context, et::DelegateHandle* handle,
                       Values args) const {
  if (handle == nullptr) return Error::DelegateInvalidHandle;
  auto& delegate = *static_cast<LoadedDelegate*>(handle);
  et::EventTracer* const tracer = profile_ ? context.event_tracer() : nullptr;
  const et::EventTracerEntry entry =
      et::event_tracer_start_profiling_delegate(tracer, delegate.row.id, kNoDebugId);
  const Status status = run(delegate, context, args);
  et::event_tracer_end_profiling_delegate(tracer, entry);
  if (status != Status::kOk) {
    log_status(delegate.row.id, status);
    return delegate_call_error(status);
  }
  if (tracer == nullptr) return Error::Ok;
  et_timestamp_t at = 0;
  for (uint32_t i = 0;; ++i) {
    const std::optional<DelegateEvent> next = event(delegate, i);
    if (!next) return Error::Ok;
    et::event_tracer_log_profiling_delegate(tracer, next->name, kNoDebugId, at, at + next->cycles);
    at += next->cycles;
  }
}

void Backend::destroy(et::DelegateHandle* handle) const {
  if (handle == nullptr) return;
  auto& delegate = *static_cast<LoadedDelegate*>(handle);
  if (delegate.is_checked) close(delegate);
  delegate.~LoadedDelegate();  // the allocator of the method frees the memory
}

Error Backend::set_option(et::BackendOptionContext& /*context*/,
                          const et::Span<et::BackendOption>& options) {
  for (const et::BackendOption& option : options) {
    if (std::strcmp(option.key, kProfileOption) != 0) return Error::NotFound;
    const bool* const value = std::get_if<bool>(&option.value);
    if (value == nullptr) return Error::InvalidArgument;
    profile_ = *value;
  }
  return Error::Ok;
}

Error Backend::get_option(et::BackendOptionContext& /*context*/,
                          et::Span<et::BackendOption>& options) {
  for (et::BackendOption& option : options) {
    if (std::strcmp(option.key, kProfileOption) != 0) return Error::NotFound;
    option.value = profile_;
  }
  return Error::Ok;
}

bool register_backend(const char* id, Backend& delegate) {
  return et::register_backend({id, &delegate}) == Error::Ok;
}

}  // namespace thimble::executorch
