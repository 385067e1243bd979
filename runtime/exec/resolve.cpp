// Maps operator names to kernels. A generic build has hundreds of kernels whose names have long
// common prefixes, so lengths are compared first, and then the names from the end, word by word.

#include "runtime/exec/resolve.h"
#include "runtime/exec/decode.h"
#include "runtime/exec/delegates.h"

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
  if (overload.count() == 7 && std::memcmp(overload.item(0, 1), "default", 7) == 0) {
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
    std::memcpy(&word, text + rest, 4);
    std::memcpy(&other, part.item(rest, 1), 4);
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

}  // namespace

Status resolve_kernels(const FlatbufferProgram& flatbuffer, const kernels::KernelTable& kernels,
                       const kernels::Kernel** kernel_of_op) {
  const uint32_t count = flatbuffer.operators.count();
  for (uint32_t i = 0; i < count; ++i) {
    kernel_of_op[i] = find_kernel_by_name(flatbuffer, i, kernels, kAnyCount);
    if (kernel_of_op[i] == nullptr) return Status::kMissingKernel;
  }
  return Status::kOk;
}

Status check_inputs_and_outputs(CheckedAccess& access, const Model& model) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  kernels::Tensor tensor;
  for (uint32_t i = 0; i < flatbuffer.inputs.count(); ++i) {
    THIMBLE_RETURN_IF_ERROR(decode_tensor(access, model, flatbuffer.inputs.index_at(i), tensor));
    if (tensor.is_constant) return Status::kCorrupt;
  }
  for (uint32_t i = 0; i < flatbuffer.outputs.count(); ++i)
    THIMBLE_RETURN_IF_ERROR(decode_tensor(access, model, flatbuffer.outputs.index_at(i), tensor));
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

Status check_instructions(CheckedAccess& access, const Model& model,
                          const kernels::KernelTable& kernels) {
  const FlatbufferProgram& flatbuffer = model.flatbuffer;
  // Every operator must have a kernel, even if no instruction calls it, as in resolve_kernels().
  for (uint32_t i = 0; model.kernel_of_op == nullptr && i < flatbuffer.operators.count(); ++i) {
    if (find_kernel_by_name(flatbuffer, i, kernels, kAnyCount) == nullptr)
      return Status::kMissingKernel;
  }
  const uint32_t count = flatbuffer.instructions.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction instruction = instruction_at(flatbuffer, i);
    if (access.has_delegate_calls && is_delegate_call(flatbuffer, i)) {
      THIMBLE_RETURN_IF_ERROR(
          kernels.delegates->check(access, model, *kernels.delegates, instruction));
      continue;
    }
    const kernels::Kernel* kernel =
        model.kernel_of_op != nullptr
            ? model.kernel_of_op[instruction.row]
            : find_kernel_by_name(flatbuffer, instruction.row, kernels, kAnyCount);
    const uint32_t arguments = instruction.args.count();
    if (kernel->count_in_file != arguments) {
      // The file uses the operator's signature of another release.
      if (arguments > abi::kMaxArgs) return Status::kUnsupported;
      kernel = find_kernel_by_name(flatbuffer, instruction.row, kernels, arguments);
      if (kernel == nullptr || !all_calls_have_arguments(flatbuffer, instruction.row, arguments)) {
        return Status::kCorrupt;
      }
      if (model.kernel_of_op != nullptr) model.kernel_of_op[instruction.row] = kernel;
    }
    DecodedCall decoded;
    Status status = decode_call(access, model, instruction.args, *kernel, decoded);
    if (status == Status::kOk) status = kernel->check(decoded.call);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace thimble::runtime
