// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delegate calls: instructions that pass tensors to code other than a kernel, with a payload in the
// file. All code for them is reached through the table `DelegateBackends`. A product refers to this
// table only if its files have such calls; other products do not link the code.
//
// open() of a delegate is called several times: to get its memory sizes, and before check() of each
// of its calls. Its result must depend only on the file. The model's memory has one slot per row of
// the plan's delegates, after the kernel pointers; the persistent memory of the delegates follows
// the slots.

#include "abi/limits.h"
#include "abi/named_data.h"
#include "abi/runtime_memory.h"
#include "kernels/kernels.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

struct Background;
struct DelegateBackend;
struct Instruction;
struct Model;  // incomplete: code of a delegate does not depend on THIMBLE_TRACE
struct Executor;
extern const Executor flatbuffer_executor;

/// The data of the file for a delegate. `file` belongs to the runtime that loads the file:
/// CheckedAccess in this one. Code of a delegate does not read it.
struct DelegateSource {
  void* file;
  ByteRegion payload;
  /// Finds the bytes of the named data with this key.
  [[nodiscard]] Status find_data(const uint8_t* key, uint32_t key_bytes, ByteRegion& found) const;
};

/// Data of a delegate in the model's memory. `data` has the SlotData of the backend: open() writes
/// it, and check() adds addresses. The content is the same for all calls of the delegate.
struct DelegateSlot {
  const DelegateBackend* backend = nullptr;
  alignas(uintptr_t) unsigned char data[abi::kDelegateWords * sizeof(uintptr_t)];
};
static_assert(sizeof(DelegateSlot) == (abi::kDelegateWords + 1) * sizeof(uintptr_t));

/// Returns the delegate's own data in a slot.
template <class Data>
Data& slot_data(DelegateSlot& slot) {
  static_assert(sizeof(Data) <= sizeof(DelegateSlot::data) && alignof(Data) <= alignof(uintptr_t));
  return *reinterpret_cast<Data*>(slot.data);
}
template <class Data>
const Data& slot_data(const DelegateSlot& slot) {
  return *reinterpret_cast<const Data*>(slot.data);
}

/// Memory of a delegate. Addresses are null while the model has no memory.
struct DelegateMemory {
  uint8_t* scratch = nullptr;
  uint32_t scratch_offset = 0;  // in the arena
  bool fast_planned = false;    // true: in the arena; false: the device provides it
  uint8_t* fast = nullptr;
  uint32_t fast_offset = 0;
  uint32_t fast_bytes = 0;
  uint8_t* persistent = nullptr;  // DelegateBackend::persistent_bytes bytes, 16-byte aligned
  abi::MemoryMode mode = abi::MemoryMode::kUnknown;
  uint8_t overlap = 0;  // abi::DelegateRecord::overlap
};

/// Result of DelegateArgs::offset() for a tensor that is not in the arena.
inline constexpr uint32_t kNotPlanned = 0xFFFFFFFF;

/// Arguments of a call that load has verified. All are tensors. `call` belongs to the runtime that
/// makes the call, and the members that are not inline are part of that runtime: `call` is the
/// Model in this one; executorch/delegate/ has the members for ExecuTorch's runtime.
struct DelegateArgs {
  const void* call;
  FlatVector indices;
  [[nodiscard]] uint32_t count() const { return indices.count(); }
  [[nodiscard]] kernels::Tensor tensor(uint32_t i) const;
  /// Same as tensor(i).data, without decoding the other fields.
  [[nodiscard]] void* data(uint32_t i) const;
  /// Offset of the tensor in the arena, or kNotPlanned.
  [[nodiscard]] uint32_t offset(uint32_t i) const;
};

/// Returns true if the dimensions are in memory in logical order, except that dimension `innermost`
/// (if it is below kMaxRank) is the last one. Dimensions of size 1 are ignored.
inline bool is_in_order(const kernels::Tensor& tensor, uint32_t innermost = abi::kMaxRank) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    const uint32_t dimension = tensor.dim_order[i];
    if (tensor.sizes[dimension] == 1) continue;
    const uint32_t position = dimension == innermost ? abi::kMaxRank : dimension;
    if (position < last) return false;
    last = position;
  }
  return true;
}

/// run() in two parts, for a device that works while the core executes other calls. start() does
/// everything up to the start of the device, wait() the rest. A start() that fails needs no wait().
/// The calls in between access neither the operands nor the memory of the delegate, except that
/// they may read its inputs; the compiler ensures it, and the runtime does not check it. The device
/// must therefore not read addresses from memory of the arena after its start.
struct BackgroundCalls {
  Status (*start)(const DelegateSlot& slot, const DelegateArgs& args);
  Status (*wait)(const DelegateSlot& slot, const DelegateArgs& args);
  /// DelegateMemory::overlap of the call. Its slot keeps it.
  uint32_t (*overlap)(const DelegateSlot& slot);
  /// Runs or starts the delegate of an instruction. A function pointer, so that only a product
  /// whose delegates work in the background links start_delegate().
  Status (*run)(const Model& model, const Instruction& instruction, uint32_t index,
                Background& background);
};
Status start_delegate(const Model& model, const Instruction& instruction, uint32_t index,
                      Background& background);
Status wait_for_delegate(const Model& model, Background& background);

constexpr BackgroundCalls background_calls(decltype(BackgroundCalls::start) start,
                                           decltype(BackgroundCalls::wait) wait,
                                           decltype(BackgroundCalls::overlap) overlap) {
  return {start, wait, overlap, start_delegate};
}

/// The delegate that works in the background: its instruction, the last one that runs before its
/// wait, and the function that waits. At most one works at a time; in between, other delegates
/// run without a start().
struct Background {
  uint32_t at = 0;
  uint32_t last = 0xFFFFFFFF;                                            // none works
  Status (*wait)(const Model& model, Background& background) = nullptr;  // null: none works
};

/// Code that opens, checks and runs the delegates with one id in the file.
struct DelegateBackend {
  const char* id;      // of its delegates in the file
  const void* device;  // the device that it drives
  /// Reads the payload into the slot and sets the size of scratch that its calls need.
  Status (*open)(const DelegateBackend& self, const DelegateSource& source, DelegateSlot& slot,
                 uint32_t& scratch_bytes);
  /// Verifies that run() with these arguments accesses only them and its memory.
  Status (*check)(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
  Status (*run)(const DelegateSlot& slot, const DelegateArgs& args);
  /// Additional scratch in bytes that a call needs for its tensors, which are verified. Null: none.
  uint32_t (*call_scratch)(const DelegateSlot& slot, const DelegateArgs& args) = nullptr;
  /// Bytes of RAM, outside the arena, that each delegate of the plan needs while the model is
  /// loaded. Null: none.
  uint32_t (*persistent_bytes)(const DelegateBackend& self) = nullptr;
  /// Null: a call returns when its results are complete, whatever the file states.
  const BackgroundCalls* background = nullptr;
};

struct DelegateNeeds {
  uint32_t count = 0;  // rows of the plan's delegates
  uint32_t arena_bytes = 0;
  uint32_t persistent_bytes = 0;  // after the slots
};

/// The linked backends. A kernel table has a pointer to one such table.
struct DelegateBackends {
  const DelegateBackend* backends;
  uint32_t count;
  // Function pointers, so that a product without delegates does not link their code.
  Status (*measure)(CheckedAccess& access, const Model& model, const DelegateBackends& delegates,
                    DelegateNeeds& needs);
  Status (*check)(CheckedAccess& access, const Model& model, const DelegateBackends& delegates,
                  uint32_t instruction);
  const Executor* executor;  // executor of files with delegate calls
};

Status measure_delegates(CheckedAccess& access, const Model& model,
                         const DelegateBackends& delegates, DelegateNeeds& needs);
Status check_delegate_call(CheckedAccess& access, const Model& model,
                           const DelegateBackends& delegates, uint32_t instruction);

constexpr DelegateBackends delegates_of(const DelegateBackend* backends, uint32_t count) {
  return {backends, count, measure_delegates, check_delegate_call, &flatbuffer_executor};
}

}  // namespace thimble::runtime
