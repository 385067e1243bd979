// SPDX-License-Identifier: Apache-2.0
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

/// Runs a delegate, or starts it if it works in the background. If it fails, none works any more.
THIMBLE_OUT_OF_LINE Status run_delegate(const Model& model, const Instruction& instruction,
                                        uint32_t index, Background& background) {
  const DelegateBackend& backend = *slots_of(model)[instruction.row].backend;
  Status status;
  traced(model, backend.id, index, [&] {
    status = backend.background != nullptr
                 ? backend.background->run(model, instruction, index, background)
                 : backend.run(slots_of(model)[instruction.row], {&model, instruction.args});
  });
  // The result of the wait has no meaning: the run has failed already.
  if (status != Status::kOk && background.wait != nullptr) (void)background.wait(model, background);
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
    if (i == background.last) THIMBLE_RETURN_IF_ERROR(background.wait(model, background));
  }
  return Status::kOk;
}

const char* instruction_op(const Model& model, uint32_t instruction) {
  const Instruction at = instruction_at(model.flatbuffer, instruction);
  return is_delegate_call(model.flatbuffer, instruction) ? slots_of(model)[at.row].backend->id
                                                         : model.kernel_of_op[at.row]->name;
}

}  // namespace

constexpr Executor flatbuffer_executor = {load_flatbuffer, count, graph_tensor, run,
                                          instruction_op};

}  // namespace thimble::runtime
