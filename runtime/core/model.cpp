// The C interface: load, inputs, outputs, run. A reader (exec/reader.h) interprets the file.

#include <new>

#include "abi/native_params.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/element.h"
#include "runtime/exec/reader.h"
#include "runtime/exec/state.h"
#include "runtime/include/thimble.h"

namespace thimble::runtime {
namespace {

constexpr uintptr_t kReady = 0x54484D42;  // value of Model::magic after a successful init

static_assert(sizeof(Model) <= sizeof(thimble_model) && alignof(Model) <= alignof(thimble_model));

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// The Model in `model`; null if it is not initialized.
Model* loaded(const thimble_model* model) {
  if (model == nullptr) return nullptr;
  auto* inside = reinterpret_cast<Model*>(const_cast<uintptr_t*>(model->opaque));
  return inside->magic == kReady ? inside : nullptr;
}

/// Selects the reader. In native files the records come before all other segments.
Status find_reader(const File& file, const kernels::KernelTable& kernels, const Reader*& reader) {
  abi::Entry entry = {};
  if (file.segments.bytes >= sizeof entry) {
    std::memcpy(&entry, file.segments.data, offsetof(abi::Entry, kernel_layout_version));
  }
  if (entry.magic == abi::kEntryMagic && entry.entry_version >= abi::kEntryRecordsVersion) {
    reader = &record_reader;
    return entry.entry_version == abi::kEntryRecordsVersion ? Status::kOk : Status::kLayoutVersion;
  }
  reader = kernels.stock;
  if (reader == nullptr && kernels.delegates != nullptr) reader = kernels.delegates->reader;
  return reader != nullptr ? Status::kOk : Status::kNoReader;
}

/// Returns true if the memory that a model writes does not overlap its file.
bool is_disjoint(const void* file, size_t file_bytes, const void* memory, size_t memory_bytes) {
  const auto at = reinterpret_cast<uintptr_t>(file);
  const auto other = reinterpret_cast<uintptr_t>(memory);
  return memory_bytes == 0 || other + memory_bytes <= at || at + file_bytes <= other;
}

Status load_model(Model& model, const void* pte, size_t pte_bytes, const thimble_kernels* opaque,
                  const Memory* memory, Layout& layout) {
  const auto& kernels = *reinterpret_cast<const kernels::KernelTable*>(opaque);
  File file;
  Status status = split_file(pte, pte_bytes, file);
  if (status == Status::kOk) status = find_reader(file, kernels, model.reader);
  if (status != Status::kOk) return status;
  return model.reader->load(model, file, kernels, memory, layout);
}

/// Clears the addresses of input buffers. Planned and empty inputs need no buffer: their entry is
/// not null, so that run() can test all inputs in the same way.
void clear_inputs(Model& model) {
  if (model.input_data == nullptr) return;
  const uint32_t count = model.reader->count(model, ProgramList::kInputs);
  for (uint32_t i = 0; i < count; ++i) {
    const Port port = model.reader->port(model, ProgramList::kInputs, i);
    const bool set = port.is_planned || port.tensor.bytes == 0;
    model.input_data[i] = set ? model.arena : nullptr;
  }
}

uint32_t count_of(const thimble_model* model, ProgramList part) {
  const Model* inside = loaded(model);
  return inside != nullptr ? inside->reader->count(*inside, part) : 0;
}

thimble_status view_of(const thimble_model* opaque, ProgramList part, uint32_t index,
                       thimble_view* view) {
  const Model* model = loaded(opaque);
  if (model == nullptr) return code(Status::kNotInitialized);
  if (view == nullptr || index >= model->reader->count(*model, part)) {
    return code(Status::kBadArgument);
  }
  const kernels::Tensor tensor = model->reader->port(*model, part, index).tensor;
  *view = {tensor.data,      tensor.bytes, tensor.sizes,
           tensor.dim_order, tensor.rank,  static_cast<uint8_t>(tensor.dtype)};
  return 0;
}

Status set_input(Model& model, uint32_t index, const void* data, size_t bytes) {
  if (index >= model.reader->count(model, ProgramList::kInputs) || data == nullptr) {
    return Status::kBadArgument;
  }
  const Port port = model.reader->port(model, ProgramList::kInputs, index);
  const kernels::Tensor& tensor = port.tensor;
  if (bytes != tensor.bytes) return Status::kBadArgument;
  if (port.is_planned) {
    if (data != tensor.data) std::memcpy(tensor.data, data, bytes);
    return Status::kOk;
  }
  const uint32_t element = element_bytes(static_cast<uint32_t>(tensor.dtype));  // a power of two
  if ((reinterpret_cast<uintptr_t>(data) & (element - 1)) != 0) return Status::kMisaligned;
  model.input_data[index] = data;
  return Status::kOk;
}

Status run(const Model& model) {
  if (model.input_data != nullptr) {
    const uint32_t count = model.reader->count(model, ProgramList::kInputs);
    for (uint32_t i = 0; i < count; ++i) {
      if (model.input_data[i] == nullptr) return Status::kInputNotSet;
    }
  }
  return model.reader->run(model);
}

}  // namespace
}  // namespace thimble::runtime

using namespace thimble::runtime;

extern "C" {

thimble_status thimble_size(const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                            thimble_needs* needs) {
  if (kernels == nullptr || needs == nullptr) return code(Status::kBadArgument);
  Model model;
  Layout layout;
  const Status status = load_model(model, pte, pte_bytes, kernels, nullptr, layout);
  if (status != Status::kOk) return code(status);
  needs->arena_bytes = layout.arena_bytes;
  needs->state_bytes = layout.end - layout.arena_bytes;
  needs->saved_bytes = total_state_bytes(model.state);
  return 0;
}

thimble_status thimble_init(thimble_model* model, const void* pte, size_t pte_bytes,
                            const thimble_kernels* kernels, void* memory, size_t memory_bytes) {
  if (model == nullptr || kernels == nullptr) return code(Status::kBadArgument);
  Model& inside = *new (model->opaque) Model;
  if (memory == nullptr && memory_bytes != 0) return code(Status::kBadArgument);
  if (reinterpret_cast<uintptr_t>(memory) % thimble::abi::kArenaAlignment != 0) {
    return code(Status::kMisaligned);
  }
  if (!is_disjoint(pte, pte_bytes, memory, memory_bytes)) return code(Status::kBadArgument);
  const Memory all = {static_cast<uint8_t*>(memory), memory_bytes};
  Layout layout;
  const Status status = load_model(inside, pte, pte_bytes, kernels, &all, layout);
  if (status != Status::kOk) return code(status);
  clear_inputs(inside);
  reset_state(inside);
  inside.magic = kReady;
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
  Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  return code(set_input(*inside, index, data, bytes));
}

thimble_status thimble_run(thimble_model* model) {
  const Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  return code(run(*inside));
}

thimble_status thimble_reset(thimble_model* model) {
  Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  clear_inputs(*inside);
  reset_state(*inside);
  return 0;
}

thimble_status thimble_save(const thimble_model* model, void* to, size_t bytes) {
  const Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  return code(save_state(*inside, to, bytes));
}

thimble_status thimble_restore(thimble_model* model, const void* from, size_t bytes) {
  Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  return code(restore_state(*inside, from, bytes));
}

thimble_status thimble_set_trace(thimble_model* model, thimble_trace_hook hook, void* user) {
#if THIMBLE_TRACE
  Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  inside->trace_hook = hook;
  inside->trace_user = user;
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
  const Model* inside = loaded(model);
  if (inside == nullptr || instruction >= count_of(model, ProgramList::kInstructions))
    return nullptr;
  return inside->reader->instruction_op(*inside, instruction);
}

}  // extern "C"
