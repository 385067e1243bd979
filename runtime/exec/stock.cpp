// Executes programs from their flatbuffer. Load makes all checks; run decodes and calls. Both keep
// one decoded call (Frame in exec/decode.h, 840 bytes on a 32-bit core) on the stack. In addition,
// load uses about 900 bytes for its data about the file, and run 250 bytes plus the stack of the
// kernel that needs most.

#include "runtime/exec/decode.h"
#include "runtime/exec/delegate_slots.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/load.h"
#include "runtime/exec/reader.h"

namespace thimble::runtime {
namespace {

Status lay_out(Checked& access, const Model& model, const kernels::KernelTable& kernels,
               Layout& layout) {
  const Image& image = model.image;
  size_t arena_bytes = image.arena_bytes;
  size_t slot_bytes = 0;
  if (access.has_delegate_calls) {
    if (kernels.delegates == nullptr) return Status::kUnsupported;
    DelegateNeeds needs;
    const Status status = kernels.delegates->measure(access, model, *kernels.delegates, needs);
    if (status != Status::kOk) return status;
    arena_bytes = needs.arena_bytes;
    slot_bytes = needs.count * sizeof(DelegateSlot) + needs.kept_bytes;
  }
  uint32_t inputs = 0;
  for (uint32_t i = 0; i < image.inputs.count() && inputs == 0; ++i) {
    if (!is_planned(image, image.inputs.index(i))) inputs = image.inputs.count();
  }
  layout.set(arena_bytes, image.operators.count(), slot_bytes, inputs);
  return Status::kOk;
}

Status load_stock(Model& model, const File& file, const kernels::KernelTable& kernels,
                  const Memory* memory, Layout& layout) {
  Checked access;
  Status status = open_image(file, access, model.image);
  if (status == Status::kOk) status = check_interface(access, model);
  if (status == Status::kOk) status = lay_out(access, model, kernels, layout);
  if (status != Status::kOk) return status;
  model.state = model.image.state;
  if (memory != nullptr) {
    status = place_arrays(model, *memory, layout);
    if (status == Status::kOk) status = resolve_kernels(model.image, kernels, model.resolved);
    if (status != Status::kOk) return status;
    for (uint32_t i = 0; layout.has_inputs && i < model.image.inputs.count(); ++i) {
      model.input_data[i] = nullptr;
    }
    // The arena is unused until the first run.
    access.value_cache =
        ValueCache(model.arena, model.image.arena_bytes, model.image.values.count());
  }
  return check_instructions(access, model, kernels);
}

uint32_t count(const Model& model, ProgramList part) {
  const Image& image = model.image;
  const Vector list = part == ProgramList::kInputs    ? image.inputs
                      : part == ProgramList::kOutputs ? image.outputs
                                                      : image.instructions;
  return list.count();
}

Port port(const Model& model, ProgramList part, uint32_t index) {
  const Image& image = model.image;
  const uint32_t value = (part == ProgramList::kInputs ? image.inputs : image.outputs).index(index);
  return {tensor_of(model, value), is_planned(image, value)};
}

/// The slot of the delegate in the model's memory.
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
  Trusted access;
  Frame frame;
  const uint32_t instructions = image.instructions.count();
  for (uint32_t i = 0; i < instructions; ++i) {
    const Instruction instruction = instruction_at(image, i);
    if (is_delegate_call(image, i)) {
      const Status status = run_delegate(model, instruction, i);
      if (status != Status::kOk) return status;
      continue;
    }
    const kernels::Kernel& kernel = *model.resolved[instruction.op_index];
    (void)decode_call(access, model, instruction.args, kernel, frame);
#if THIMBLE_TRACE
    const thimble_trace_hook hook = model.trace_hook;
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 0);
#endif
    kernel.run(frame.call);
#if THIMBLE_TRACE
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 1);
#endif
  }
  return Status::kOk;
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const Instruction at = instruction_at(model.image, instruction);
  return is_delegate_call(model.image, instruction) ? slot_of(model, at).delegate->id
                                                    : model.resolved[at.op_index]->name;
}

}  // namespace

constinit const Reader stock_reader = {load_stock, count, port, run, instruction_op};

}  // namespace thimble::runtime
