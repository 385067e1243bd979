// Operator names to kernels. A generic build holds some forty kernels whose names share long
// prefixes, so comparing every name with every other would cost as much as all else at load.
// Instead the slots that will hold the pointers first hold hashes of the file's names; then each
// kernel's name is hashed once and looked for among them, and strings are compared only where
// hashes agree.

#include "runtime/exec/decode.h"
#include "runtime/exec/load.h"

namespace thimble::runtime {
namespace {

/// The two parts of an operator's name; the second is empty if the file says "default".
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

uint32_t add_to_hash(uint32_t sum, uint32_t letter) { return sum * 31 + letter; }

uint32_t hash_part(uint32_t sum, Vector part) {
  const uint32_t count = part.count();
  for (uint32_t i = 0; i < count; ++i) sum = add_to_hash(sum, *part.item(i, 1));
  return sum;
}

/// Of "base.overload", or "base" if there is no overload. Odd: a pointer to a Kernel is even.
uintptr_t hash(const Name& name) {
  uint32_t sum = hash_part(0, name.base);
  if (name.overload.count() != 0) sum = hash_part(add_to_hash(sum, '.'), name.overload);
  return sum | 1;
}

uintptr_t hash(const char* text) {
  uint32_t sum = 0;
  for (; *text != 0; ++text) sum = add_to_hash(sum, static_cast<uint8_t>(*text));
  return sum | 1;
}

/// Moves `text` past the part if it starts with it.
bool skip_part(const char*& text, Vector part) {
  const uint32_t count = part.count();
  for (uint32_t i = 0; i < count; ++i, ++text) {
    // A zero inside the file's name must not lead past the end of ours.
    if (*text == 0 || static_cast<uint8_t>(*text) != *part.item(i, 1)) return false;
  }
  return true;
}

bool equal(const Name& name, const char* text) {
  if (!skip_part(text, name.base)) return false;
  if (name.overload.count() != 0 && (*text++ != '.' || !skip_part(text, name.overload))) {
    return false;
  }
  return *text == 0;
}

const kernels::Kernel* find_kernel(const Name& name, const kernels::KernelTable& kernels) {
  for (uint32_t i = 0; i < kernels.count; ++i) {
    if (equal(name, kernels.kernels[i]->name)) return kernels.kernels[i];
  }
  return nullptr;
}

const kernels::Kernel* kernel_of(const Model& model, uint32_t op_index,
                                 const kernels::KernelTable& kernels) {
  if (model.resolved != nullptr) return model.resolved[op_index].kernel;
  return find_kernel(name_of(model.image, op_index), kernels);
}

}  // namespace

Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       ResolvedKernel* resolved) {
  const uint32_t count = image.operators.count();
  for (uint32_t i = 0; i < count; ++i) resolved[i].hash = hash(name_of(image, i));
  for (uint32_t k = 0; k < kernels.count; ++k) {
    const kernels::Kernel* kernel = kernels.kernels[k];
    const uintptr_t sought = hash(kernel->name);
    for (uint32_t i = 0; i < count; ++i) {
      if (resolved[i].hash != sought) continue;
      if (equal(name_of(image, i), kernel->name)) resolved[i].kernel = kernel;
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    if ((resolved[i].hash & 1) != 0) return Status::kMissingKernel;
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
  // No operator may be missing, even one that no instruction calls: resolve_kernels sees it so.
  for (uint32_t i = 0; model.resolved == nullptr && i < image.operators.count(); ++i) {
    if (kernel_of(model, i, kernels) == nullptr) return Status::kMissingKernel;
  }
  const uint32_t count = image.instructions.count();
  for (uint32_t i = 0; i < count; ++i) {
    const Instruction instruction = instruction_at(image, i);
    const kernels::Kernel& kernel = *kernel_of(model, instruction.op_index, kernels);
    Frame frame;
    Status status = decode_call(access, model, instruction.args, kernel.arguments, frame);
    if (status == Status::kOk) status = kernel.check(frame.call);
    if (status != Status::kOk) return status;
  }
  return Status::kOk;
}

}  // namespace thimble::runtime
