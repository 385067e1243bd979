// Executes programs from their flatbuffer. Load makes all checks; run decodes and calls. Both keep
// one decoded call (DecodedCall in exec/decode.h) on the stack. In addition, load uses about 900
// bytes for its data about the file, and run 250 bytes plus the stack of the kernel that needs
// most.

#include "runtime/exec/decode.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/resolve.h"

namespace thimble::runtime {
namespace {

/// Computes the memory layout, with the memory that the delegates need.
Status measure_memory(CheckedAccess& access, const Model& model,
                      const kernels::KernelTable& kernels, MemoryLayout& layout) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  size_t arena_bytes = flatbuffer.arena_bytes;
  size_t delegate_bytes = 0;
  if (access.has_delegate_calls) {
    if (kernels.delegates == nullptr) return Status::kUnsupported;
    DelegateNeeds needs;
    THIMBLE_RETURN_IF_ERROR(kernels.delegates->measure(access, model, *kernels.delegates, needs));
    arena_bytes = needs.arena_bytes;
    delegate_bytes = needs.count * sizeof(DelegateSlot) + needs.persistent_bytes;
  }
  uint32_t input_data_count = 0;
  for (uint32_t i = 0; i < flatbuffer.inputs.count() && input_data_count == 0; ++i) {
    if (!is_planned(flatbuffer, flatbuffer.inputs.index_at(i)))
      input_data_count = flatbuffer.inputs.count();
  }
  layout.set(arena_bytes, flatbuffer.operators.count(), delegate_bytes, input_data_count);
  return Status::kOk;
}

Status load_flatbuffer(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                       const Memory* memory, MemoryLayout& layout) {
  CheckedAccess access;
  Status status = open_program(file, access, model.flatbuffer);
  if (status == Status::kOk) status = check_inputs_and_outputs(access, model);
  if (status == Status::kOk) status = measure_memory(access, model, kernels, layout);
  if (status != Status::kOk) return status;
  model.state = model.flatbuffer.state;
  if (memory != nullptr) {
    status = place_arrays(model, *memory, layout);
    if (status == Status::kOk)
      status = resolve_kernels(model.flatbuffer, kernels, model.kernel_of_op);
    if (status != Status::kOk) return status;
    for (uint32_t i = 0; layout.has_input_data && i < model.flatbuffer.inputs.count(); ++i) {
      model.input_data[i] = nullptr;
    }
    // The cache is stored in the arena, which is unused until the first run.
    access.value_cache =
        ValueCache(model.arena, model.flatbuffer.arena_bytes, model.flatbuffer.values.count());
  }
  return check_instructions(access, model, kernels);
}

uint32_t count(const Model& model, ProgramList list) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  const FlatVector items = list == ProgramList::kInputs    ? flatbuffer.inputs
                           : list == ProgramList::kOutputs ? flatbuffer.outputs
                                                           : flatbuffer.instructions;
  return items.count();
}

GraphTensor graph_tensor(const Model& model, ProgramList list, uint32_t index) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  const uint32_t value =
      (list == ProgramList::kInputs ? flatbuffer.inputs : flatbuffer.outputs).index_at(index);
  return {tensor_of(model, value), is_planned(flatbuffer, value)};
}

/// The slot of the delegate in the model's memory.
const DelegateSlot& slot_of(const Model& model, const Instruction& instruction) {
  return slots_of(model)[instruction.row];
}

THIMBLE_OUT_OF_LINE Status run_delegate(const Model& model, const Instruction& instruction,
                                        [[maybe_unused]] uint32_t index) {
  const DelegateSlot& slot = slot_of(model, instruction);
#if THIMBLE_TRACE
  const thimble_trace_hook hook = model.trace_hook;
  if (hook != nullptr) hook(model.trace_user, index, slot.backend->id, 0);
#endif
  const Status status = slot.backend->run(slot, {model, instruction.args});
#if THIMBLE_TRACE
  if (hook != nullptr) hook(model.trace_user, index, slot.backend->id, 1);
#endif
  return status;
}

Status run(const Model& model) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  TrustedAccess access;
  DecodedCall decoded;
  const uint32_t instructions = flatbuffer.instructions.count();
  for (uint32_t i = 0; i < instructions; ++i) {
    const Instruction instruction = instruction_at(flatbuffer, i);
    if (is_delegate_call(flatbuffer, i)) {
      THIMBLE_RETURN_IF_ERROR(run_delegate(model, instruction, i));
      continue;
    }
    const kernels::Kernel& kernel = *model.kernel_of_op[instruction.row];
    (void)decode_call(access, model, instruction.args, kernel, decoded);
#if THIMBLE_TRACE
    const thimble_trace_hook hook = model.trace_hook;
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 0);
#endif
    kernel.run(decoded.call);
#if THIMBLE_TRACE
    if (hook != nullptr) hook(model.trace_user, i, kernel.name, 1);
#endif
  }
  return Status::kOk;
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const Instruction at = instruction_at(model.flatbuffer, instruction);
  return is_delegate_call(model.flatbuffer, instruction) ? slot_of(model, at).backend->id
                                                         : model.kernel_of_op[at.row]->name;
}

}  // namespace

constinit const Executor flatbuffer_executor = {load_flatbuffer, count, graph_tensor, run,
                                                instruction_op};

}  // namespace thimble::runtime
