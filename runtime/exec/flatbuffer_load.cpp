// SPDX-License-Identifier: Apache-2.0
// Load of a program from its flatbuffer: maps operator names to kernels, and checks each call. A
// generic build has hundreds of kernels whose names have long common prefixes, so lengths are
// compared first, and then the names from the end, word by word.

#include "runtime/exec/delegates.h"
#include "runtime/exec/flatbuffer_decode.h"
#include "runtime/exec/load.h"

namespace thimble::runtime {
namespace {

/// The two parts of an operator's name. The second is empty if the file has "default".
struct Name {
  FlatVector base;
  FlatVector overload;
};

Name name_of(const FlatbufferProgram& flatbuffer, uint32_t op_index) {
  const Position op = flatbuffer.operators.target(op_index);
  Name name{vector(op, abi::pte::op::kName), vector(op, abi::pte::op::kOverload)};
  const FlatVector overload = name.overload;
  if (overload.count() == 7 && memcmp(overload.item(0, 1), "default", 7) == 0) {
    name.overload = {};
  }
  return name;
}

/// Returns true if `text` starts with `part`. `text` must be at least as long.
bool starts_with(const char* text, FlatVector part) {
  uint32_t rest = part.count();
  // Compares from the end, where names of the same length differ.
  while (rest >= 4) {
    rest -= 4;
    uint32_t word, other;
    memcpy(&word, text + rest, 4);
    memcpy(&other, part.item(rest, 1), 4);
    if (word != other) return false;
  }
  while (rest != 0) {
    --rest;
    if (static_cast<uint8_t>(text[rest]) != *part.item(rest, 1)) return false;
  }
  return true;
}

/// Matches kernels with any number of arguments.
constexpr uint32_t kAnyCount = 0xFFFFFFFF;

/// Finds "base.overload", or "base" if there is no overload. If `argument_count` is not kAnyCount,
/// the kernel must have this number of arguments in a file.
const kernels::Kernel* find_kernel_by_name(const FlatbufferProgram& flatbuffer, uint32_t op_index,
                                           const kernels::KernelTable& kernels,
                                           uint32_t argument_count) {
  const Name name = name_of(flatbuffer, op_index);
  const uint32_t base_bytes = name.base.count();
  const uint32_t overload_bytes = name.overload.count();
  const uint32_t bytes = base_bytes + (overload_bytes != 0 ? overload_bytes + 1 : 0);
  const kernels::Kernel* const* at = kernels.kernels;
  const kernels::Kernel* const* end = at + kernels.count;
  if (kernels.shorter != nullptr) {
    if (bytes > kernels::kNameBytesMax) return nullptr;
    end = at + kernels.shorter[bytes + 1];
    at += kernels.shorter[bytes];
  }
  for (; at != end; ++at) {
    const kernels::Kernel& kernel = **at;
    if (kernel.name_bytes != bytes) continue;
    if (!starts_with(kernel.name, name.base)) continue;
    const char* const text = kernel.name + base_bytes;
    if (overload_bytes != 0 && (*text != '.' || !starts_with(text + 1, name.overload))) continue;
    if (argument_count == kAnyCount || kernel.count_in_file == argument_count) return &kernel;
  }
  return nullptr;
}

/// Returns true if every instruction with this row of the operator table has `argument_count`
/// arguments.
bool all_calls_have_arguments(const FlatbufferProgram& flatbuffer, uint32_t op_index,
                              uint32_t argument_count) {
  for (uint32_t i = 0; i < flatbuffer.instructions.count(); ++i) {
    if (is_delegate_call(flatbuffer, i)) continue;
    const Instruction instruction = instruction_at(flatbuffer, i);
    if (instruction.row == op_index && instruction.args.count() != argument_count) return false;
  }
  return true;
}

/// See exec/load.h.
struct FlatbufferLoader {
  CheckedAccess& access;
  Model& model;
  const PteRegions& file;
  const kernels::KernelTable& kernels;
  uint32_t index = 0;  // of the next call

  Status open(size_t& arena_bytes, size_t& delegate_bytes) {
    const FlatbufferProgram& flatbuffer = model.flatbuffer;
    THIMBLE_RETURN_IF_ERROR(open_program(file, access, model.flatbuffer));
    model.state = flatbuffer.state;
    kernels::Tensor tensor;
    for (uint32_t i = 0; i < input_count(); ++i) {
      THIMBLE_RETURN_IF_ERROR(decode_tensor(access, model, flatbuffer.inputs.index_at(i), tensor));
      if (tensor.is_constant) return Status::kCorrupt;
    }
    THIMBLE_RETURN_IF_ERROR(check_tensors(access, model, flatbuffer.outputs));
    arena_bytes = flatbuffer.arena_bytes;
    if (!access.has_delegate_calls) return Status::kOk;
    if (kernels.delegates == nullptr) return Status::kUnsupported;
    DelegateNeeds needs;
    THIMBLE_RETURN_IF_ERROR(kernels.delegates->measure(access, model, *kernels.delegates, needs));
    arena_bytes = needs.arena_bytes;
    delegate_bytes = needs.count * sizeof(DelegateSlot) + needs.persistent_bytes;
    return Status::kOk;
  }

  uint32_t input_count() const { return model.flatbuffer.inputs.count(); }
  bool is_input_planned(uint32_t i) const {
    return is_planned(model.flatbuffer, model.flatbuffer.inputs.index_at(i));
  }
  uint32_t operator_count() const { return model.flatbuffer.operators.count(); }
  uint32_t call_count() const { return model.flatbuffer.instructions.count(); }

  /// Values are verified with the calls.
  Status check_values() {
    const FlatbufferProgram& flatbuffer = model.flatbuffer;
    if (model.arena != nullptr) {
      access.value_cache =
          ValueCache(model.arena, flatbuffer.arena_bytes, flatbuffer.values.count());
    }
    return Status::kOk;
  }

  const kernels::Kernel* find_kernel(uint32_t row) const {
    return find_kernel_by_name(model.flatbuffer, row, kernels, kAnyCount);
  }

  THIMBLE_INLINE Status check_next_call() {
    const FlatbufferProgram& flatbuffer = model.flatbuffer;
    const uint32_t at = index++;
    const Instruction call = instruction_at(flatbuffer, at);
    if (access.has_delegate_calls && is_delegate_call(flatbuffer, at)) {
      return kernels.delegates->check(access, model, *kernels.delegates, at);
    }
    const kernels::Kernel* kernel = &kernel_of(*this, call.row);
    const uint32_t arguments = call.args.count();
    if (kernel->count_in_file != arguments) {
      // The file uses the operator's signature of another release.
      if (arguments > abi::kMaxArgs) return Status::kUnsupported;
      kernel = find_kernel_by_name(flatbuffer, call.row, kernels, arguments);
      if (kernel == nullptr || !all_calls_have_arguments(flatbuffer, call.row, arguments)) {
        return Status::kCorrupt;
      }
      if (model.kernel_of_op != nullptr) model.kernel_of_op[call.row] = kernel;
    }
    FlatbufferCall decoded(model, call.args, flatbuffer_list_item);
    THIMBLE_RETURN_IF_ERROR(decode_call(access, *kernel, decoded));
    return kernel->check(decoded.call);
  }
};

/// Not inlined, so that a decoded call is on the stack only while calls are checked.
THIMBLE_OUT_OF_LINE Status check_all_calls(CheckedAccess& access, Model& model,
                                           const PteRegions& file,
                                           const kernels::KernelTable& kernels) {
  FlatbufferLoader loader = {access, model, file, kernels};
  return check_calls(loader);
}

}  // namespace

Status load_flatbuffer(Model& model, const PteRegions& file, const kernels::KernelTable& kernels,
                       const Memory* memory, MemoryLayout& layout) {
  CheckedAccess access;
  FlatbufferLoader loader = {access, model, file, kernels};
  THIMBLE_RETURN_IF_ERROR(check_values(loader, memory, layout));
  return check_all_calls(access, model, file, kernels);
}

}  // namespace thimble::runtime
