// The C interface: load, inputs, outputs, run. Loading does all the checking there is; run decodes
// and calls. Both keep one decoded call (exec/decode.h Frame, 840 bytes on a 32-bit core) on the
// stack. Load adds some 900 bytes of what it knows about the file, run 250, and then comes what the
// deepest kernel needs.

#include <new>

#include "abi/native_params.h"
#include "runtime/exec/decode.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/load.h"
#include "runtime/include/thimble.h"

namespace thimble::runtime {
namespace {

namespace pte = abi::pte;

constexpr uintptr_t kReady = 0x54484D42;  // in Model::magic after a successful init

static_assert(sizeof(Model) <= sizeof(thimble_model) && alignof(Model) <= alignof(thimble_model));

thimble_status code(Status status) {
  return static_cast<thimble_status>(status);
}

/// The loaded model inside, or null.
Model* loaded(const thimble_model* model) {
  if (model == nullptr) return nullptr;
  auto* inside = reinterpret_cast<Model*>(const_cast<uintptr_t*>(model->opaque));
  return inside->magic == kReady ? inside : nullptr;
}

const kernels::KernelTable& table(const thimble_kernels* kernels) {
  return *reinterpret_cast<const kernels::KernelTable*>(kernels);
}

/// How much memory the file asks for, and where in it the arrays of exec/model.h start.
struct Layout {
  size_t arena_bytes = 0;  // with the scratch of delegates that the file has not planned
  size_t kernels_at = 0;
  size_t inputs_at = 0;  // 0 if every input is planned
  size_t end = 0;
  bool has_inputs = false;  // inputs_at may be 0: a program without calls and arena
};
Status lay_out(Checked& access, const Model& model, const kernels::KernelTable& kernels,
               Layout& layout) {
  const Image& image = model.image;
  layout.arena_bytes = image.arena_bytes;
  size_t slot_bytes = 0;
  if (access.has_delegate_calls) {
    if (kernels.delegates == nullptr) return Status::kUnsupported;
    DelegateNeeds needs;
    const Status status = kernels.delegates->measure(access, model, *kernels.delegates, needs);
    if (status != Status::kOk) return status;
    layout.arena_bytes = needs.arena_bytes;
    slot_bytes = needs.count * sizeof(DelegateSlot) + needs.kept_bytes;
  }
  layout.kernels_at = (layout.arena_bytes + sizeof(void*) - 1) / sizeof(void*) * sizeof(void*);
  layout.end = layout.kernels_at + image.operators.count() * sizeof(void*) + slot_bytes;
  for (uint32_t i = 0; i < image.inputs.count(); ++i) {
    if (is_planned(image, image.inputs.index(i))) continue;
    layout.inputs_at = layout.end;
    layout.has_inputs = true;
    layout.end += image.inputs.count() * sizeof(void*);
    break;
  }
  return Status::kOk;
}

/// Forgets the callers' buffers. Planned and empty inputs have no need of one; for them the entry
/// is anything but null, so that run can ask all alike.
void clear_inputs(Model& model) {
  if (model.input_data == nullptr) return;
  const Image& image = model.image;
  for (uint32_t i = 0; i < image.inputs.count(); ++i) {
    const uint32_t value_index = image.inputs.index(i);
    const bool set = is_planned(image, value_index) || tensor_of(model, value_index).bytes == 0;
    model.input_data[i] = set ? model.arena : nullptr;
  }
}

/// Of the arena: all pieces that survive a run.
uint32_t kept_bytes(const Image& image) {
  constexpr size_t kAt = offsetof(abi::StateHeader, bytes);
  return image.state != nullptr ? load<uint32_t>(image.state + kAt) : 0;
}

/// Calls visit(piece of the arena, record) for all that survives a run.
template <class Visit>
void for_each_state(const Model& model, Visit visit) {
  if (model.image.state == nullptr) return;
  abi::StateHeader header;
  std::memcpy(&header, model.image.state, sizeof header);
  Position at = model.image.state + sizeof header;
  for (uint32_t i = 0; i < header.count; ++i, at += sizeof(abi::StateRecord)) {
    abi::StateRecord record;
    std::memcpy(&record, at, sizeof record);
    visit(model.arena + record.arena_offset, record);
  }
}

void reset_state(const Model& model) {
  for_each_state(model, [&](uint8_t* piece, const abi::StateRecord& record) {
    if (record.content != 0) {
      std::memcpy(piece, model.image.state + record.content, record.bytes);
    } else {
      std::memset(piece, static_cast<int>(record.fill & 255), record.bytes);
    }
  });
}

Status load_model(Model& model, const void* file, size_t file_bytes,
                  const kernels::KernelTable& kernels, void* memory, size_t memory_bytes) {
  Checked access;
  Status status = open_image(file, file_bytes, access, model.image);
  if (status == Status::kOk) status = check_interface(access, model);
  if (status != Status::kOk) return status;
  Layout layout;
  status = lay_out(access, model, kernels, layout);
  if (status != Status::kOk) return status;
  if (layout.end > memory_bytes) return Status::kArenaTooSmall;

  model.arena = static_cast<uint8_t*>(memory);
  model.resolved = reinterpret_cast<const kernels::Kernel**>(model.arena + layout.kernels_at);
  status = resolve_kernels(model.image, kernels, model.resolved);
  if (status != Status::kOk) return status;
  if (layout.has_inputs) {
    model.input_data = reinterpret_cast<const void**>(model.arena + layout.inputs_at);
    for (uint32_t i = 0; i < model.image.inputs.count(); ++i) model.input_data[i] = nullptr;
  }
  // The arena is nobody's until the first run.
  access.memo = Memo(model.arena, model.image.arena_bytes, model.image.values.count());
  status = check_instructions(access, model, kernels);
  clear_inputs(model);
  reset_state(model);
  return status;
}

Status view_of(const thimble_model* opaque, Vector Image::*list, uint32_t index,
               thimble_view* view) {
  const Model* model = loaded(opaque);
  if (model == nullptr) return Status::kNotInitialized;
  const Vector indices = model->image.*list;
  if (view == nullptr || index >= indices.count()) return Status::kBadArgument;
  const kernels::Tensor tensor = tensor_of(*model, indices.index(index));
  *view = {tensor.data,      tensor.bytes, tensor.sizes,
           tensor.dim_order, tensor.rank,  static_cast<uint8_t>(tensor.dtype)};
  return Status::kOk;
}

Status set_input(Model& model, uint32_t index, const void* data, size_t bytes) {
  if (index >= model.image.inputs.count() || data == nullptr) return Status::kBadArgument;
  const uint32_t value_index = model.image.inputs.index(index);
  const kernels::Tensor tensor = tensor_of(model, value_index);
  if (bytes != tensor.bytes) return Status::kBadArgument;
  if (is_planned(model.image, value_index)) {
    if (data != tensor.data) std::memcpy(tensor.data, data, bytes);
    return Status::kOk;
  }
  const uint32_t element = element_bytes(static_cast<uint32_t>(tensor.dtype));  // a power of two
  if ((reinterpret_cast<uintptr_t>(data) & (element - 1)) != 0) return Status::kMisaligned;
  model.input_data[index] = data;
  return Status::kOk;
}

/// The row of a delegate, in the memory of the model.
const DelegateSlot& slot_of(const Model& model, const Instruction& instruction) {
  return slots_of(model)[instruction.op_index];
}

THIMBLE_OUT_OF_LINE Status run_delegate(const Model& model, const Instruction& instruction,
                                        [[maybe_unused]] uint32_t index) {
  const DelegateSlot& slot = slot_of(model, instruction);
#if THIMBLE_TRACE
  const thimble_trace_hook hook = model.trace_hook;
  if (hook != nullptr) hook(model.trace_user, index, slot.delegate->id, 0);
#endif
  const Status status = slot.delegate->run(slot, {model, instruction.args});
#if THIMBLE_TRACE
  if (hook != nullptr) hook(model.trace_user, index, slot.delegate->id, 1);
#endif
  return status;
}

Status run(const Model& model) {
  const Image& image = model.image;
  for (uint32_t i = 0; model.input_data != nullptr && i < image.inputs.count(); ++i) {
    if (model.input_data[i] == nullptr) return Status::kInputNotSet;
  }
  Trusted access;
  Frame frame;
  const uint32_t count = image.instructions.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction instruction = instruction_at(image, i);
    if (is_delegate_call(image, i)) {
      const Status status = run_delegate(model, instruction, i);
      if (status != Status::kOk) return status;
      continue;
    }
    const kernels::Kernel& kernel = *model.resolved[instruction.op_index];
#if THIMBLE_TRACE
    const thimble_trace_hook hook = model.trace_hook;
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 0);
#endif
    (void)decode_call(access, model, instruction.args, kernel, frame);
    kernel.run(frame.call);
#if THIMBLE_TRACE
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 1);
#endif
  }
  return Status::kOk;
}

}  // namespace
}  // namespace thimble::runtime

using namespace thimble::runtime;

extern "C" {

thimble_status thimble_size(const void* pte, size_t pte_bytes, const thimble_kernels* kernels,
                            thimble_needs* needs) {
  if (kernels == nullptr || needs == nullptr) return code(Status::kBadArgument);
  Model model;
  Checked access;
  Status status = open_image(pte, pte_bytes, access, model.image);
  Layout layout;
  if (status == Status::kOk) status = check_interface(access, model);
  if (status == Status::kOk) status = lay_out(access, model, table(kernels), layout);
  if (status == Status::kOk) status = check_instructions(access, model, table(kernels));
  if (status != Status::kOk) return code(status);
  needs->arena_bytes = layout.arena_bytes;
  needs->state_bytes = layout.end - layout.arena_bytes;
  needs->saved_bytes = kept_bytes(model.image);
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
  const Status status = load_model(inside, pte, pte_bytes, table(kernels), memory, memory_bytes);
  if (status == Status::kOk) inside.magic = kReady;
  return code(status);
}

uint32_t thimble_input_count(const thimble_model* model) {
  const Model* inside = loaded(model);
  return inside != nullptr ? inside->image.inputs.count() : 0;
}

uint32_t thimble_output_count(const thimble_model* model) {
  const Model* inside = loaded(model);
  return inside != nullptr ? inside->image.outputs.count() : 0;
}

thimble_status thimble_input(const thimble_model* model, uint32_t index, thimble_view* view) {
  return code(view_of(model, &Image::inputs, index, view));
}

thimble_status thimble_output(const thimble_model* model, uint32_t index, thimble_view* view) {
  return code(view_of(model, &Image::outputs, index, view));
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
  if (bytes != kept_bytes(inside->image) || (to == nullptr && bytes != 0)) {
    return code(Status::kBadArgument);
  }
  auto* at = static_cast<uint8_t*>(to);
  for_each_state(*inside, [&](const uint8_t* piece, const thimble::abi::StateRecord& record) {
    std::memcpy(at, piece, record.bytes);
    at += record.bytes;
  });
  return 0;
}

thimble_status thimble_restore(thimble_model* model, const void* from, size_t bytes) {
  Model* inside = loaded(model);
  if (inside == nullptr) return code(Status::kNotInitialized);
  if (bytes != kept_bytes(inside->image) || (from == nullptr && bytes != 0)) {
    return code(Status::kBadArgument);
  }
  auto* at = static_cast<const uint8_t*>(from);
  for_each_state(*inside, [&](uint8_t* piece, const thimble::abi::StateRecord& record) {
    std::memcpy(piece, at, record.bytes);
    at += record.bytes;
  });
  return 0;
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
  const Model* inside = loaded(model);
  return inside != nullptr ? inside->image.instructions.count() : 0;
}

const char* thimble_instruction_op(const thimble_model* model, uint32_t instruction) {
  const Model* inside = loaded(model);
  if (inside == nullptr || instruction >= inside->image.instructions.count()) return nullptr;
  const Instruction at = instruction_at(inside->image, instruction);
  return is_delegate_call(inside->image, instruction) ? slot_of(*inside, at).delegate->id
                                                      : inside->resolved[at.op_index]->name;
}

}  // extern "C"
