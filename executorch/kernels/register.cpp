// SPDX-License-Identifier: Apache-2.0
// ExecuTorch calls a kernel through a plain function pointer, which has no data. Therefore each
// registered operator has a slot, and each slot has its own function, an instance of call_slot().

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>

#include <cstring>
#include <utility>

#include "abi/pte_ops.h"
#include "executorch/kernels/call.h"
#include "executorch/status.h"
#include "thimble_executorch.h"

namespace thimble::executorch {
namespace {

using ::executorch::runtime::Error;
using ::executorch::runtime::KernelRuntimeContext;
using ::executorch::runtime::OpFunction;
using kernels::Kernel;
using kernels::KernelTable;

/// An operator that is registered. The table also has the operator's other signatures.
struct Slot {
  const Kernel* kernel;
  const KernelTable* table;
};

/// At most one per operator name.
constexpr size_t kSlots = static_cast<size_t>(abi::PteOp::kCount);
Slot slots[kSlots];
size_t used_slots = 0;

/// Finds the signature with this number of arguments, see abi/pte_ops.def.
const Kernel* find_signature(const Slot& slot, size_t count) {
  if (slot.kernel->count_in_file == count) return slot.kernel;
  for (uint32_t i = 0; i < slot.table->count; ++i) {
    const Kernel* const kernel = slot.table->kernels[i];
    if (kernel->count_in_file == count && std::strcmp(kernel->name, slot.kernel->name) == 0) {
      return kernel;
    }
  }
  return nullptr;
}

void call(const Slot& slot, KernelRuntimeContext& context, Values values) {
  // An event with the operator's name in the profile, as kernels of ExecuTorch have.
  const ::executorch::runtime::internal::EventTracerProfileOpScope scope(
      context.internal_event_tracer(), slot.kernel->name);
  const Kernel* const kernel = find_signature(slot, values.size());
  const abi::Status status =
      kernel != nullptr ? call_kernel(*kernel, values) : abi::Status::kCorrupt;
  if (status == abi::Status::kOk) return;
  ET_LOG(Error, "%s: %s", slot.kernel->name,
         kernel != nullptr ? thimble_status_text(static_cast<thimble_status>(status))
                           : "no signature with this number of arguments");
  context.fail(call_error(status));
}

template <size_t kSlot>
void call_slot(KernelRuntimeContext& context, Values values) {
  call(slots[kSlot], context, values);
}

struct SlotFunctions {
  OpFunction of[kSlots];
};
template <size_t... kSlot>
constexpr SlotFunctions make_functions(std::index_sequence<kSlot...>) {
  return {{call_slot<kSlot>...}};
}
constexpr SlotFunctions kFunctions = make_functions(std::make_index_sequence<kSlots>());

/// Returns true if the operator is in one of the namespaces.
bool is_in(const char* name, const char* namespaces) {
  const char* const colon = std::strchr(name, ':');
  const auto bytes = static_cast<size_t>(colon - name);
  while (*namespaces != 0) {
    const size_t length = std::strcspn(namespaces, ",");
    if (length == bytes && std::memcmp(name, namespaces, bytes) == 0) return true;
    namespaces += length;
    if (*namespaces == ',') ++namespaces;
  }
  return false;
}

/// Returns true if ExecuTorch's runtime or a slot that is not registered yet has the operator. The
/// registry's own lookup writes a message for each operator that it does not have.
bool is_known(const char* name, size_t end) {
  for (size_t i = used_slots; i < end; ++i) {
    if (std::strcmp(slots[i].kernel->name, name) == 0) return true;
  }
  for (const auto& kernel : ::executorch::runtime::get_registered_kernels()) {
    if (std::strcmp(kernel.name_, name) == 0) return true;
  }
  return false;
}

}  // namespace
}  // namespace thimble::executorch

using namespace thimble::executorch;

extern "C" __attribute__((visibility("default"))) int thimble_executorch_register(
    const thimble_kernels* kernels, const char* namespaces) {
  const auto& table = *reinterpret_cast<const thimble::kernels::KernelTable*>(kernels);
  if (namespaces == nullptr) namespaces = "cortex_m,thimble";
  size_t end = used_slots;
  for (uint32_t i = 0; i < table.count; ++i) {
    const thimble::kernels::Kernel* const kernel = table.kernels[i];
    if (!is_in(kernel->name, namespaces) || is_known(kernel->name, end)) continue;
    if (end == kSlots) return -1;
    slots[end++] = {kernel, &table};
  }
  const int count = static_cast<int>(end - used_slots);
  for (; used_slots != end; ++used_slots) {
    // The registry reports its errors by ending the program.
    (void)::executorch::runtime::register_kernel(
        ::executorch::runtime::Kernel(slots[used_slots].kernel->name, kFunctions.of[used_slots]));
  }
  return count;
}
