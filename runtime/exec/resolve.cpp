// Operator names to kernels. A generic build holds some forty kernels whose names share long
// prefixes, so comparing every name with every other would cost as much as all else at load. Instead
// the slots that will hold the pointers first hold hashes of the file's names; then each kernel's
// name is hashed once and looked for among them, and strings are compared only where hashes agree.

#include "runtime/exec/decode.h"
#include "runtime/exec/load.h"

namespace thimble::runtime {
namespace {

/// "cortex_m::quantized_depthwise_conv2d.out" has 40 characters; a longer name is nobody's.
constexpr uint32_t kNameBytesMax = 64;

struct Name {
  char text[kNameBytesMax];  // zero-terminated; empty if the file's name is too long
};

/// "name.overload", or "name" if the overload is empty or "default".
void read_name(Position op, Name& name) {
  const Vector base = vector(op, abi::pte::op::kName);
  Vector overload = vector(op, abi::pte::op::kOverload);
  if (overload.count() == 7 && std::memcmp(overload.item(0, 1), "default", 7) == 0) overload = {};
  name.text[0] = 0;
  const uint32_t base_bytes = base.count();
  const uint32_t overload_bytes = overload.count();
  if (base_bytes > kNameBytesMax || overload_bytes > kNameBytesMax) return;
  if (base_bytes + overload_bytes + 2 > kNameBytesMax) return;
  uint32_t end = 0;
  for (; end < base_bytes; ++end) name.text[end] = static_cast<char>(*base.item(end, 1));
  if (overload_bytes != 0) {
    name.text[end++] = '.';
    for (uint32_t i = 0; i < overload_bytes; ++i) {
      name.text[end++] = static_cast<char>(*overload.item(i, 1));
    }
  }
  name.text[end] = 0;
}

uintptr_t hash(const char* text) {
  uint32_t sum = 0;
  for (; *text != 0; ++text) sum = sum * 31 + static_cast<uint8_t>(*text);
  return sum | 1;  // odd: a pointer to a Kernel is even
}

bool equal(const char* a, const char* b) {
  while (*a == *b) {
    if (*a == 0) return true;
    ++a;
    ++b;
  }
  return false;
}

const kernels::Kernel* find_kernel(const char* name, const kernels::KernelTable& kernels) {
  for (uint32_t i = 0; i < kernels.count; ++i) {
    if (equal(name, kernels.kernels[i]->name)) return kernels.kernels[i];
  }
  return nullptr;
}

const kernels::Kernel* kernel_of(const Model& model, uint32_t op_index,
                                 const kernels::KernelTable& kernels) {
  if (model.resolved != nullptr) return model.resolved[op_index].kernel;
  Name name;
  read_name(model.image.operators.target(op_index), name);
  return find_kernel(name.text, kernels);
}

}  // namespace

Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       ResolvedKernel* resolved) {
  const uint32_t count = image.operators.count();
  Name name;
  for (uint32_t i = 0; i < count; ++i) {
    read_name(image.operators.target(i), name);
    resolved[i].hash = hash(name.text);
  }
  for (uint32_t k = 0; k < kernels.count; ++k) {
    const kernels::Kernel* kernel = kernels.kernels[k];
    const uintptr_t sought = hash(kernel->name);
    for (uint32_t i = 0; i < count; ++i) {
      if (resolved[i].hash != sought) continue;
      read_name(image.operators.target(i), name);
      if (equal(name.text, kernel->name)) resolved[i].kernel = kernel;
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
