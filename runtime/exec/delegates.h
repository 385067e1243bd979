#pragma once
// Delegate calls: instructions that hand tensors to something that is no kernel, with a payload of
// its own in the file. Everything about them is reached through the table below, which a product
// names only if its files have such calls: the others link none of it.
//
// A delegate is opened twice: to learn what memory it wants, then with each of its calls, where it
// fills its slot. A slot lies behind the kernel pointers in the memory of the model, one per row of
// the plan's delegates, and behind the slots what their delegates keep of their own.

#include "abi/limits.h"
#include "abi/native_params.h"
#include "abi/state.h"
#include "runtime/exec/model.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

struct Delegate;
struct Instruction;
struct Reader;
extern const Reader stock_reader;

/// What the file has for a delegate.
struct DelegateSource {
  Checked& access;
  Region payload;
  /// Bytes that stand in the file's named data under a key.
  [[nodiscard]] Status find_data(const uint8_t* key, uint32_t key_bytes, Region& found) const;
};

/// What a call of a delegate is about, found once when the model is loaded.
struct DelegateSlot {
  const Delegate* delegate = nullptr;
  alignas(uintptr_t) unsigned char own[abi::kDelegateWords * sizeof(uintptr_t)];
};
static_assert(sizeof(DelegateSlot) == (abi::kDelegateWords + 1) * sizeof(uintptr_t));

/// Where the memory of a delegate is. Addresses are null while there is no memory yet.
struct DelegateMemory {
  uint8_t* scratch = nullptr;
  uint32_t scratch_offset = 0;  // in the arena
  bool fast_planned = false;    // in the arena; else the device has it
  uint8_t* fast = nullptr;
  uint32_t fast_offset = 0;
  uint32_t fast_bytes = 0;
  uint8_t* kept = nullptr;  // Delegate::kept_bytes of it, at a multiple of 16
  abi::MemoryMode mode = abi::MemoryMode::kUnknown;
};

inline constexpr uint32_t kNotPlanned = 0xFFFFFFFF;

/// Arguments of a call that load has verified: tensors all.
struct DelegateArgs {
  const Model& model;
  Vector indices;
  [[nodiscard]] uint32_t count() const { return indices.count(); }
  [[nodiscard]] kernels::Tensor tensor(uint32_t i) const;
  /// tensor(i).data, without the rest.
  [[nodiscard]] void* data(uint32_t i) const;
  /// Where in the arena the tensor starts, or kNotPlanned.
  [[nodiscard]] uint32_t offset(uint32_t i) const;
};

/// Whether the tensor lies in the order of its dimensions, but for those of one element. With
/// `innermost`, that dimension lies behind all others.
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

/// One kind of delegate, by the name that files have for it.
struct Delegate {
  const char* id;      // "EthosUBackend"
  const void* device;  // what it drives
  /// Reads the payload into the slot and answers how much scratch its calls want.
  Status (*open)(const Delegate& self, const DelegateSource& source, DelegateSlot& slot,
                 uint32_t& scratch_bytes);
  /// Proves that run() with these arguments touches only them and its memory.
  Status (*check)(DelegateSlot& slot, const DelegateMemory& memory, const DelegateArgs& args);
  Status (*run)(const DelegateSlot& slot, const DelegateArgs& args);
  /// How much more scratch a call wants for its tensors, which are verified. Null: none.
  uint32_t (*call_scratch)(const DelegateSlot& slot, const DelegateArgs& args) = nullptr;
  /// Memory that each row has for itself for as long as the model is loaded. Null: none.
  uint32_t (*kept_bytes)(const Delegate& self) = nullptr;
};

struct DelegateNeeds {
  uint32_t count = 0;  // rows of the plan's delegates
  uint32_t arena_bytes = 0;
  uint32_t kept_bytes = 0;  // behind the slots
};

/// A table of kernels points to one of these.
struct Delegates {
  const Delegate* rows;
  uint32_t count;
  Status (*measure)(Checked& access, const Model& model, const Delegates& delegates,
                    DelegateNeeds& needs);
  Status (*check)(Checked& access, const Model& model, const Delegates& delegates,
                  const Instruction& instruction);
  const Reader* reader;  // of the files that have such calls
};

Status measure_delegates(Checked& access, const Model& model, const Delegates& delegates,
                         DelegateNeeds& needs);
Status check_delegate_call(Checked& access, const Model& model, const Delegates& delegates,
                           const Instruction& instruction);

constexpr Delegates delegates_of(const Delegate* rows, uint32_t count) {
  return {rows, count, measure_delegates, check_delegate_call, &stock_reader};
}

/// The slots of a loaded model.
inline DelegateSlot* slots_of(const Model& model) {
  return reinterpret_cast<DelegateSlot*>(model.resolved + model.image.operators.count());
}

}  // namespace thimble::runtime
