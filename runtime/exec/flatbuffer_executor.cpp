// Executes programs from their flatbuffer. Load makes all checks; run decodes and calls. Both keep
// one decoded call (DecodedCall in exec/call.h) on the stack. In addition, load uses about 900
// bytes for its data about the file, and run 250 bytes plus the stack of the kernel that needs
// most.

#include "runtime/exec/delegates.h"
#include "runtime/exec/flatbuffer_decode.h"
#include "runtime/exec/load.h"

namespace thimble::runtime {
namespace {

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

constexpr uint32_t kNone = 0xFFFFFFFF;

/// A delegate that works in the background: its instruction, and the last one that runs before its
/// wait. At most one works at a time; another one is called in between without a start().
struct Background {
  uint32_t at = kNone;
  uint32_t last = kNone;
};

using DelegateFunction = Status (*)(const DelegateSlot& slot, const DelegateArgs& args);

Status call_delegate(const Model& model, const Instruction& instruction, uint32_t index,
                     DelegateFunction function) {
  const DelegateSlot& slot = slot_of(model, instruction);
  Status status;
  traced(model, slot.backend->id, index, [&] {
    status = function(slot, {&model, instruction.args});
  });
  return status;
}

THIMBLE_OUT_OF_LINE Status wait(const Model& model, Background& background) {
  const uint32_t at = background.at;
  const Instruction instruction = instruction_at(model.flatbuffer, at);
  background = {};
  return call_delegate(model, instruction, at,
                       slot_of(model, instruction).backend->background->wait);
}

/// Runs or starts a delegate. If it fails, nothing works in the background.
THIMBLE_OUT_OF_LINE Status run_delegate(const Model& model, const Instruction& instruction,
                                        uint32_t index, Background& background) {
  const DelegateSlot& slot = slot_of(model, instruction);
  DelegateFunction function = slot.backend->run;
  const BackgroundCalls* const calls = slot.backend->background;
  const uint32_t overlap = calls != nullptr ? calls->overlap(slot) : 0;
  if (overlap != 0) function = calls->start;
  const Status status = call_delegate(model, instruction, index, function);
  if (status != Status::kOk) {
    // The result of the wait has no meaning: the run has failed already.
    if (background.at != kNone) (void)wait(model, background);
  } else if (overlap != 0) {
    background = {index, index + overlap};
  }
  return status;
}

Status run(const Model& model) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  TrustedAccess access;
  Background background;
  const uint32_t instructions = flatbuffer.instructions.count();
  for (uint32_t i = 0; i < instructions; ++i) {
    const Instruction instruction = instruction_at(flatbuffer, i);
    if (is_delegate_call(flatbuffer, i)) {
      THIMBLE_RETURN_IF_ERROR(run_delegate(model, instruction, i, background));
    } else {
      const kernels::Kernel& kernel = *model.kernel_of_op[instruction.row];
      FlatbufferCall decoded(model, instruction.args, flatbuffer_list_item);
      (void)decode_call(access, kernel, decoded);
      traced(model, kernel.name, i, [&] { kernel.run(decoded.call); });
    }
    if (i == background.last) THIMBLE_RETURN_IF_ERROR(wait(model, background));
  }
  return Status::kOk;
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const Instruction at = instruction_at(model.flatbuffer, instruction);
  return is_delegate_call(model.flatbuffer, instruction) ? slot_of(model, at).backend->id
                                                         : model.kernel_of_op[at.row]->name;
}

}  // namespace

constexpr Executor flatbuffer_executor = {load_flatbuffer, count, graph_tensor, run,
                                                instruction_op};

}  // namespace thimble::runtime
