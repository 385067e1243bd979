#pragma once
// From the values of a file to the arguments of a kernel. The same code serves the checks at load
// and the run: what it checks is the kind of each value, a compare or two per argument, and at run
// the answer is known to be kOk. Memory safety of the reads themselves was proved by the verifier.

#include "abi/limits.h"
#include "runtime/exec/model.h"

namespace thimble::runtime {

/// A decoded kernel call. About 850 bytes on a 32-bit core: the largest object on the stack.
struct Frame {
  kernels::Call call;
  const Model* model;
  Vector indices;  // value indices of the arguments
  alignas(kernels::Arg) unsigned char storage[abi::kMaxArgs * sizeof(kernels::Arg)];

  kernels::Arg* args() { return reinterpret_cast<kernels::Arg*>(storage); }
};

/// The tensor of a value; kUnsupported if its data comes from nowhere. `data` is null where the
/// arena or the caller's buffer is not known (yet).
Status decode_tensor(const Model& model, uint32_t value_index, kernels::Tensor& tensor);

/// `indices` is a verified vector of int32; `letters` the kernel's argument letters.
Status decode_call(const Model& model, Vector indices, const char* letters, Frame& frame);

/// Of a verified instruction: its row in the operator table, and its arguments.
struct Instruction {
  uint32_t op_index;
  Vector args;
};
Instruction instruction_at(const Image& image, uint32_t index);

}  // namespace thimble::runtime
