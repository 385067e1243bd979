#pragma once
// From the values of a file to the arguments of a kernel. At load this is where values are
// verified, when an instruction or the interface names them; at run the same code reads without
// asking.

#include "abi/limits.h"
#include "runtime/exec/element.h"
#include "runtime/exec/model.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

/// A decoded kernel call. About 850 bytes on a 32-bit core: the largest object on the stack.
struct Frame {
  kernels::Call call;
  const Model* model;
  Vector indices;  // value indices of the arguments
  alignas(kernels::Arg) unsigned char storage[abi::kMaxArgs * sizeof(kernels::Arg)];

  kernels::Arg* args() { return reinterpret_cast<kernels::Arg*>(storage); }
};

/// The tensor of a value; kUnsupported if it is no tensor, or if its data comes from nowhere.
/// `data` is null where the arena or the caller's buffer is not known (yet). Access: access.h.
template <class Access>
Status decode_tensor(Access& access, const Model& model, uint32_t value_index,
                     kernels::Tensor& tensor);

/// `indices` is a verified vector of int32, as many as the kernel takes in a file.
template <class Access>
Status decode_call(Access& access, const Model& model, Vector indices,
                   const kernels::Kernel& kernel, Frame& frame);

/// The tensor of a value that load has seen to be one.
inline kernels::Tensor tensor_of(const Model& model, uint32_t value_index) {
  Trusted trusted;
  kernels::Tensor tensor;
  (void)decode_tensor(trusted, model, value_index, tensor);
  return tensor;
}

/// Whether the tensor of a verified value lies in the arena.
bool is_planned(const Image& image, uint32_t value_index);

/// Of a verified instruction: its row in the table of operators (or delegates), its arguments.
struct Instruction {
  uint32_t op_index;
  Vector args;
};
Instruction instruction_at(const Image& image, uint32_t index);

/// Whether it calls a delegate and not a kernel.
bool is_delegate_call(const Image& image, uint32_t index);

}  // namespace thimble::runtime
