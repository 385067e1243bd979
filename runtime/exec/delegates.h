#pragma once
// Delegate calls: instructions that pass tensors to code other than a kernel, with a payload in the
// file. All code for them is reached through the table `Delegates`. A product refers to this table
// only if its files have such calls; other products do not link the code.
//
// A delegate is opened twice: first to get its memory sizes, then for each of its calls, when it
// fills its slot. The model's memory has one slot per row of the plan's delegates, after the kernel
// pointers. After the slots follows the memory that the delegates keep.

#include "abi/limits.h"
#include "abi/native_params.h"
#include "abi/runtime_memory.h"
#include "kernels/kernels.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

struct Delegate;
struct Instruction;
struct Model;  // incomplete: code of a delegate does not depend on THIMBLE_TRACE
struct Reader;
extern const Reader stock_reader;

/// The data of the file for a delegate.
struct DelegateSource {
  Checked& access;
  ByteRegion payload;
  /// Finds the bytes of the named data with this key.
  [[nodiscard]] Status find_data(const uint8_t* key, uint32_t key_bytes, ByteRegion& found) const;
};

/// Data of a delegate for its calls, filled once when the model is loaded.
struct DelegateSlot {
  const Delegate* delegate = nullptr;
  alignas(uintptr_t) unsigned char own[abi::kDelegateWords * sizeof(uintptr_t)];
};
static_assert(sizeof(DelegateSlot) == (abi::kDelegateWords + 1) * sizeof(uintptr_t));

/// Memory of a delegate. Addresses are null while the model has no memory.
struct DelegateMemory {
  uint8_t* scratch = nullptr;
  uint32_t scratch_offset = 0;  // in the arena
  bool fast_planned = false;    // true: in the arena; false: the device provides it
  uint8_t* fast = nullptr;
  uint32_t fast_offset = 0;
  uint32_t fast_bytes = 0;
  uint8_t* kept = nullptr;  // Delegate::kept_bytes bytes, 16-byte aligned
  abi::MemoryMode mode = abi::MemoryMode::kUnknown;
};

inline constexpr uint32_t kNotPlanned = 0xFFFFFFFF;

/// Arguments of a call that load has verified. All are tensors.
struct DelegateArgs {
  const Model& model;
  Vector indices;
  [[nodiscard]] uint32_t count() const { return indices.count(); }
  [[nodiscard]] kernels::Tensor tensor(uint32_t i) const;
  /// Same as tensor(i).data, without decoding the other fields.
  [[nodiscard]] void* data(uint32_t i) const;
  /// Offset of the tensor in the arena, or kNotPlanned.
  [[nodiscard]] uint32_t offset(uint32_t i) const;
};

/// Returns true if the memory order is the logical order of the dimensions. Dimensions of size 1
/// are ignored. If `innermost` is given, that dimension must be the innermost one instead.
inline bool is_in_order(const kernels::Tensor& tensor, uint32_t innermost = abi::kMaxRank) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    const uint32_t dimension = tensor.dim_order[i];
    if (tensor.sizes[dimension] == 1) continue;
    const uint32_t place = dimension == innermost ? abi::kMaxRank : dimension;
    if (place < last) return false;
    last = place;
  }
  return true;
}

/// One kind of delegate, identified by the id in the file.
struct Delegate {
  const char* id;      // name of the delegate in the file
  const void* device;  // the device that it drives
  /// Reads the payload into the slot and sets the size of scratch that its calls need.
  Status (*open)(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
                 uint32_t& scratch_bytes);
  /// Verifies that run() with these arguments accesses only them and its memory.
  Status (*check)(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
  Status (*run)(const DelegateSlot& slot, const DelegateArgs& args);
  /// Additional scratch in bytes that a call needs for its tensors, which are verified. Null: none.
  uint32_t (*call_scratch)(const DelegateSlot& slot, const DelegateArgs& args) = nullptr;
  /// Bytes that each row keeps for itself while the model is loaded. Null: none.
  uint32_t (*kept_bytes)(const Delegate& self) = nullptr;
};

struct DelegateNeeds {
  uint32_t count = 0;  // rows of the plan's delegates
  uint32_t arena_bytes = 0;
  uint32_t kept_bytes = 0;  // after the slots
};

/// Code and table of delegates. A kernel table has a pointer to one.
struct Delegates {
  const Delegate* rows;
  uint32_t count;
  Status (*measure)(Checked& access, const Model& model, const Delegates& delegates,
                    DelegateNeeds& needs);
  Status (*check)(Checked& access, const Model& model, const Delegates& delegates,
                  const Instruction& instruction);
  const Reader* reader;  // reader of files with delegate calls
};

Status measure_delegates(Checked& access, const Model& model, const Delegates& delegates,
                         DelegateNeeds& needs);
Status check_delegate_call(Checked& access, const Model& model, const Delegates& delegates,
                           const Instruction& instruction);

constexpr Delegates delegates_of(const Delegate* rows, uint32_t count) {
  return {rows, count, measure_delegates, check_delegate_call, &stock_reader};
}

}  // namespace thimble::runtime
