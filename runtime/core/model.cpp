// SPDX-License-Identifier: Apache-2.0
// The C API: load, inputs, outputs, run. An executor (exec/executor.h) interprets the file.

#include "abi/freestanding.h"
#include "abi/named_data.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/state.h"
#include "runtime/include/thimble.h"
#include "runtime/program/methods.h"
#include "runtime/program/tensor.h"

namespace thimble::runtime {
namespace {

// Model::magic of an initialized model: "THMB", and "THMC" during a run.
constexpr uintptr_t kModelMagic = 0x54484D42;
constexpr uintptr_t kRunningMagic = kModelMagic + 1;

static_assert(sizeof(Model) <= sizeof(thimble_model) && alignof(Model) <= alignof(thimble_model));

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// Returns the Model that is stored in a thimble_model; null if it is not initialized.
Model* initialized_model(const thimble_model* model) {
  if (model == nullptr) return nullptr;
  auto* impl = reinterpret_cast<Model*>(const_cast<uintptr_t*>(model->opaque));
  return impl->magic == kModelMagic || impl->magic == kRunningMagic ? impl : nullptr;
}

/// Returns kOk with the Model of an initialized model that is not running.
Status idle_model(const thimble_model* model, Model*& impl) {
  impl = initialized_model(model);
  if (impl == nullptr) return Status::kNotInitialized;
  return impl->magic == kModelMagic ? Status::kOk : Status::kBusy;
}

/// Writes Model::magic. An interrupt handler that calls this model reads it, so the store is
/// volatile: the compiler neither removes it nor moves it across other volatile accesses.
void set_magic(Model& model, uintptr_t magic) {
  *static_cast<volatile uintptr_t*>(&model.magic) = magic;
}

/// Selects the executor: records if the segments of the file start with a program entry of version
/// 2 or later, the flatbuffer otherwise.
Status select_executor(const PteRegions& file, const kernels::KernelTable& kernels,
                       const Executor*& executor) {
  abi::ProgramEntry entry = {};
  if (file.segments.bytes >= sizeof entry) {
    // Only magic and entry_version are needed.
    memcpy(&entry, file.segments.data, offsetof(abi::ProgramEntry, kernel_layout_version));
  }
  if (entry.magic == abi::kProgramEntryMagic && entry.entry_version >= abi::kEntryVersionRecords) {
    executor = &record_executor;
    return entry.entry_version == abi::kEntryVersionRecords ? Status::kOk : Status::kLayoutVersion;
  }
  executor = kernels.flatbuffer_executor;
  if (executor == nullptr && kernels.delegates != nullptr) executor = kernels.delegates->executor;
  return executor != nullptr ? Status::kOk : Status::kNoExecutor;
}

/// Returns true if the memory that a model writes does not overlap its file.
bool is_disjoint(const void* file, size_t file_bytes, const void* memory, size_t memory_bytes) {
  const auto file_begin = reinterpret_cast<uintptr_t>(file);
  const auto memory_begin = reinterpret_cast<uintptr_t>(memory);
  return memory_bytes == 0 || memory_begin + memory_bytes <= file_begin ||
         file_begin + file_bytes <= memory_begin;
}

Status load_regions(Model& model, const PteRegions& file, const thimble_kernels* kernel_handle,
                    const Memory* memory, MemoryLayout& layout) {
  const auto& kernels = *reinterpret_cast<const kernels::KernelTable*>(kernel_handle);
  THIMBLE_RETURN_IF_ERROR(select_executor(file, kernels, model.executor));
  return model.executor->load(model, file, kernels, memory, layout);
}

Status load_model(Model& model, const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                  const Memory* memory, MemoryLayout& layout) {
  PteRegions file;
  THIMBLE_RETURN_IF_ERROR(find_regions(pte, pte_bytes, file));
  return load_regions(model, file, kernels, memory, layout);
}

Status load_method(Model& model, const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                   const char* method, const Memory* memory, MemoryLayout& layout) {
  PteRegions file;
  THIMBLE_RETURN_IF_ERROR(find_regions(pte, pte_bytes, file));
  THIMBLE_RETURN_IF_ERROR(select_method(method, file.segments));
  return load_regions(model, file, kernels, memory, layout);
}

/// Marks each input in a caller's buffer as not set (null). Planned and empty inputs need no
/// buffer: their entry is the address of the arena, so that run() tests all entries for null.
void mark_inputs_unset(Model& model) {
  if (model.input_data == nullptr) return;
  const uint32_t count = model.executor->count(model, ProgramList::kInputs);
  for (uint32_t i = 0; i < count; ++i) {
    const GraphTensor graph_tensor = model.executor->graph_tensor(model, ProgramList::kInputs, i);
    const bool needs_no_buffer = graph_tensor.is_planned || graph_tensor.tensor.bytes == 0;
    model.input_data[i] = needs_no_buffer ? model.arena : nullptr;
  }
}

void describe_needs(const Model& model, const MemoryLayout& layout, thimble_needs* needs) {
  needs->arena_bytes = layout.arena_bytes;
  needs->state_bytes = layout.end - layout.arena_bytes;
  needs->saved_bytes = total_state_bytes(model.state);
}

void finish_init(Model& model) {
  mark_inputs_unset(model);
  reset_state(model);
  model.magic = kModelMagic;
}

uint32_t count_of(const thimble_model* model, ProgramList list) {
  const Model* impl = initialized_model(model);
  return impl != nullptr ? impl->executor->count(*impl, list) : 0;
}

thimble_status view_of(const thimble_model* model, ProgramList list, uint32_t index,
                       thimble_view* view) {
  const Model* impl = initialized_model(model);
  if (impl == nullptr) return code(Status::kNotInitialized);
  if (view == nullptr || index >= impl->executor->count(*impl, list)) {
    return code(Status::kBadArgument);
  }
  const kernels::Tensor tensor = impl->executor->graph_tensor(*impl, list, index).tensor;
  *view = {tensor.data,      tensor.bytes, tensor.sizes,
           tensor.dim_order, tensor.rank,  static_cast<uint8_t>(tensor.dtype)};
  return 0;
}

Status set_input(Model& model, uint32_t index, const void* data, size_t bytes) {
  if (index >= model.executor->count(model, ProgramList::kInputs) || data == nullptr) {
    return Status::kBadArgument;
  }
  const GraphTensor graph_tensor = model.executor->graph_tensor(model, ProgramList::kInputs, index);
  const kernels::Tensor& tensor = graph_tensor.tensor;
  if (bytes != tensor.bytes) return Status::kBadArgument;
  if (graph_tensor.is_planned) {
    if (data != tensor.data) memcpy(tensor.data, data, bytes);
    return Status::kOk;
  }
  const uint32_t element = element_bytes(static_cast<uint32_t>(tensor.dtype));  // a power of two
  if ((reinterpret_cast<uintptr_t>(data) & (element - 1)) != 0) return Status::kMisaligned;
  model.input_data[index] = data;
  return Status::kOk;
}

Status run(Model& model) {
  if (model.input_data != nullptr) {
    const uint32_t count = model.executor->count(model, ProgramList::kInputs);
    for (uint32_t i = 0; i < count; ++i) {
      if (model.input_data[i] == nullptr) return Status::kInputNotSet;
    }
  }
  set_magic(model, kRunningMagic);
  const Status status = model.executor->run(model);
  set_magic(model, kModelMagic);
  return status;
}

}  // namespace
}  // namespace thimble::runtime

using namespace thimble::runtime;

extern "C" {

thimble_status thimble_size(const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                            thimble_needs* needs) {
  if (kernels == nullptr || needs == nullptr) return code(Status::kBadArgument);
  Model model;
  MemoryLayout layout;
  const Status status = load_model(model, pte, pte_bytes, kernels, nullptr, layout);
  if (status != Status::kOk) return code(status);
  describe_needs(model, layout, needs);
  return 0;
}

thimble_status thimble_size_method(const void* pte, size_t pte_bytes,
                                   const thimble_kernels* kernels, const char* method,
                                   thimble_needs* needs) {
  if (kernels == nullptr || method == nullptr || needs == nullptr) {
    return code(Status::kBadArgument);
  }
  Model model;
  MemoryLayout layout;
  const Status status = load_method(model, pte, pte_bytes, kernels, method, nullptr, layout);
  if (status != Status::kOk) return code(status);
  describe_needs(model, layout, needs);
  return 0;
}

thimble_status thimble_init_method(thimble_model* model, const void* pte, size_t pte_bytes,
                                   const thimble_kernels* kernels, const char* method, void* arena,
                                   size_t arena_bytes, void* state, size_t state_bytes) {
  if (model == nullptr || kernels == nullptr) return code(Status::kBadArgument);
  Model& impl = *new (thimble::abi::Place{model->opaque}) Model;
  const bool missing =
      method == nullptr || (arena == nullptr && arena_bytes != 0) || state == nullptr;
  if (missing || reinterpret_cast<uintptr_t>(state) % sizeof(void*) != 0) {
    return code(Status::kBadArgument);
  }
  if (reinterpret_cast<uintptr_t>(arena) % thimble::abi::kArenaAlignment != 0) {
    return code(Status::kMisaligned);
  }
  const bool disjoint = is_disjoint(pte, pte_bytes, arena, arena_bytes) &&
                        is_disjoint(pte, pte_bytes, state, state_bytes) &&
                        is_disjoint(arena, arena_bytes, state, state_bytes);
  if (!disjoint) return code(Status::kBadArgument);
  const Memory all = {static_cast<uint8_t*>(arena), arena_bytes, static_cast<uint8_t*>(state),
                      state_bytes};
  MemoryLayout layout;
  const Status status = load_method(impl, pte, pte_bytes, kernels, method, &all, layout);
  if (status != Status::kOk) return code(status);
  if (layout.has_input_data()) {
    impl.input_data =
        reinterpret_cast<const void**>(all.arrays + layout.input_data_at - layout.kernel_of_op_at);
  }
  finish_init(impl);
  return 0;
}

thimble_status thimble_init(thimble_model* model, const void* pte, size_t pte_bytes,
                            const thimble_kernels* kernels, void* memory, size_t memory_bytes) {
  if (model == nullptr || kernels == nullptr) return code(Status::kBadArgument);
  Model& impl = *new (thimble::abi::Place{model->opaque}) Model;
  if (memory == nullptr && memory_bytes != 0) return code(Status::kBadArgument);
  if (reinterpret_cast<uintptr_t>(memory) % thimble::abi::kArenaAlignment != 0) {
    return code(Status::kMisaligned);
  }
  if (!is_disjoint(pte, pte_bytes, memory, memory_bytes)) return code(Status::kBadArgument);
  const Memory all = {static_cast<uint8_t*>(memory), memory_bytes};
  MemoryLayout layout;
  const Status status = load_model(impl, pte, pte_bytes, kernels, &all, layout);
  if (status != Status::kOk) return code(status);
  // Until here it is null: load has no input buffers.
  if (layout.has_input_data())
    impl.input_data = reinterpret_cast<const void**>(all.data + layout.input_data_at);
  finish_init(impl);
  return 0;
}

uint32_t thimble_input_count(const thimble_model* model) {
  return count_of(model, ProgramList::kInputs);
}

uint32_t thimble_output_count(const thimble_model* model) {
  return count_of(model, ProgramList::kOutputs);
}

thimble_status thimble_input(const thimble_model* model, uint32_t index, thimble_view* view) {
  return view_of(model, ProgramList::kInputs, index, view);
}

thimble_status thimble_output(const thimble_model* model, uint32_t index, thimble_view* view) {
  return view_of(model, ProgramList::kOutputs, index, view);
}

thimble_status thimble_set_input(thimble_model* model, uint32_t index, const void* data,
                                 size_t bytes) {
  Model* impl;
  const Status status = idle_model(model, impl);
  return code(status == Status::kOk ? set_input(*impl, index, data, bytes) : status);
}

thimble_status thimble_run(thimble_model* model) {
  Model* impl;
  const Status status = idle_model(model, impl);
  return code(status == Status::kOk ? run(*impl) : status);
}

thimble_status thimble_reset(thimble_model* model) {
  Model* impl = initialized_model(model);
  if (impl == nullptr) return code(Status::kNotInitialized);
  mark_inputs_unset(*impl);
  reset_state(*impl);
  set_magic(*impl, kModelMagic);  // a run that did not return is over
  return 0;
}

thimble_status thimble_save(const thimble_model* model, void* to, size_t bytes) {
  Model* impl;
  const Status status = idle_model(model, impl);
  return code(status == Status::kOk ? save_state(*impl, to, bytes) : status);
}

thimble_status thimble_restore(thimble_model* model, const void* from, size_t bytes) {
  Model* impl;
  const Status status = idle_model(model, impl);
  return code(status == Status::kOk ? restore_state(*impl, from, bytes) : status);
}

thimble_status thimble_set_trace(thimble_model* model, thimble_trace_hook hook, void* user) {
#if THIMBLE_TRACE
  Model* impl = initialized_model(model);
  if (impl == nullptr) return code(Status::kNotInitialized);
  impl->trace_hook = hook;
  impl->trace_user = user;
  return 0;
#else
  (void)model;
  (void)hook;
  (void)user;
  return code(Status::kUnsupported);
#endif
}

uint32_t thimble_instruction_count(const thimble_model* model) {
  return count_of(model, ProgramList::kInstructions);
}

const char* thimble_instruction_op(const thimble_model* model, uint32_t instruction) {
  const Model* impl = initialized_model(model);
  if (impl == nullptr || instruction >= count_of(model, ProgramList::kInstructions)) return nullptr;
  return impl->executor->instruction_op(*impl, instruction);
}

}  // extern "C"
