// Maps operator names to kernels. A generic build has hundreds of kernels whose names have long
// common prefixes, so lengths are compared first, and then the names from the end, word by word.

#include "runtime/exec/decode.h"
#include "runtime/exec/delegates.h"
#include "runtime/exec/load.h"

namespace thimble::runtime {
namespace {

/// The two parts of an operator's name. The second is empty if the file has "default".
struct Name {
  Vector base;
  Vector overload;
};

Name name_of(const Image& image, uint32_t op_index) {
  const Position op = image.operators.target(op_index);
  Name name{vector(op, abi::pte::op::kName), vector(op, abi::pte::op::kOverload)};
  const Vector overload = name.overload;
  if (overload.count() == 7 && std::memcmp(overload.item(0, 1), "default", 7) == 0) {
    name.overload = {};
  }
  return name;
}

/// Returns true if `text` starts with `part`. `text` must be at least as long.
bool starts_with(const char* text, Vector part) {
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

/// Finds "base.overload", or "base" if there is no overload. If `count` is not kAnyCount, the
/// kernel must have this number of arguments in a file.
const kernels::Kernel* find_kernel(const Image& image, uint32_t op_index,
                                   const kernels::KernelTable& kernels, uint32_t count) {
  const Name name = name_of(image, op_index);
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
    if (count == kAnyCount || kernel.count_in_file == count) return &kernel;
  }
  return nullptr;
}

/// Returns true if every instruction with this row of the operator table has `count` arguments.
bool all_have(const Image& image, uint32_t op_index, uint32_t count) {
  for (uint32_t i = 0; i < image.instructions.count(); ++i) {
    if (is_delegate_call(image, i)) continue;
    const Instruction instruction = instruction_at(image, i);
    if (instruction.op_index == op_index && instruction.args.count() != count) return false;
  }
  return true;
}

}  // namespace

Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       const kernels::Kernel** resolved) {
  const uint32_t count = image.operators.count();
  for (uint32_t i = 0; i < count; ++i) {
    resolved[i] = find_kernel(image, i, kernels, kAnyCount);
    if (resolved[i] == nullptr) return Status::kMissingKernel;
  }
  return Status::kOk;
}

Status check_interface(Checked& access, const Model& model) {
  const Image& image = model.image;
  kernels::Tensor tensor;
  for (uint32_t i = 0; i < image.inputs.count(); ++i) {
    const Status status = decode_tensor(access, model, image.inputs.index(i), tensor);
    if (status != Status::kOk) return status;
    if (tensor.is_constant) return Status::kCorrupt;
  }
  for (uint32_t i = 0; i < image.outputs.count(); ++i) {
    const Status status = decode_tensor(access, model, image.outputs.index(i), tensor);
    if (status != Status::kOk) return status;
  }
  return access.failed() ? Status::kCorrupt : Status::kOk;
}

Status check_instructions(Checked& access, const Model& model,
                          const kernels::KernelTable& kernels) {
  const Image& image = model.image;
  // Every operator must have a kernel, even if no instruction calls it, as in resolve_kernels().
  for (uint32_t i = 0; model.resolved == nullptr && i < image.operators.count(); ++i) {
    if (find_kernel(image, i, kernels, kAnyCount) == nullptr) return Status::kMissingKernel;
  }
  const uint32_t count = image.instructions.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction instruction = instruction_at(image, i);
    if (access.has_delegate_calls && is_delegate_call(image, i)) {
      const Status status =
          kernels.delegates->check(access, model, *kernels.delegates, instruction);
      if (status != Status::kOk) return status;
      continue;
    }
    const kernels::Kernel* kernel =
        model.resolved != nullptr ? model.resolved[instruction.op_index]
                                  : find_kernel(image, instruction.op_index, kernels, kAnyCount);
    const uint32_t arguments = instruction.args.count();
    if (kernel->count_in_file != arguments) {
      // The file uses the operator's signature of another release.
      if (arguments > abi::kMaxArgs) return Status::kUnsupported;
      kernel = find_kernel(image, instruction.op_index, kernels, arguments);
      if (kernel == nullptr || !all_have(image, instruction.op_index, arguments)) {
        return Status::kCorrupt;
      }
      if (model.resolved != nullptr) model.resolved[instruction.op_index] = kernel;
    }
    Frame frame;
    Status status = decode_call(access, model, instruction.args, *kernel, frame);
    if (status == Status::kOk) status = kernel->check(frame.call);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace thimble::runtime
