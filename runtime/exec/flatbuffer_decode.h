// SPDX-License-Identifier: Apache-2.0
#pragma once
// Decodes values of a file to arguments of a kernel. At load, values are verified here when an
// instruction or the interface refers to them. At run, the same code reads them without checks.

#include "runtime/exec/call.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

/// The operands of a call are a vector of value indices.
using FlatbufferCall = DecodedCall<FlatVector, abi::kMaxArgs>;
static_assert(sizeof(void*) != 4 || sizeof(FlatbufferCall) <= 840);

/// Decodes the tensor of a value. Returns kUnsupported if the value is not a tensor, or if the
/// tensor is not empty and neither a constant nor planned nor a graph input. `data` is null while
/// the arena or the input buffer is unknown. Access: see access.h.
template <class Access>
Status decode_tensor(Access& access, const Model& model, uint32_t value_index,
                     kernels::Tensor& tensor);

/// Verifies that each of these values is a tensor.
Status check_tensors(CheckedAccess& access, const Model& model, FlatVector indices);

/// Call::list_item of calls from a flatbuffer.
kernels::Tensor flatbuffer_list_item(const kernels::Call& call, uint32_t arg, uint32_t index);

/// The operands of the call are a verified vector of int32, with kernel.count_in_file entries.
template <class Access>
Status decode_call(Access& access, const kernels::Kernel& kernel, FlatbufferCall& decoded);

/// The tensor of a value that load has verified as a tensor.
inline kernels::Tensor tensor_of(const Model& model, uint32_t value_index) {
  TrustedAccess trusted;
  kernels::Tensor tensor;
  (void)decode_tensor(trusted, model, value_index, tensor);
  return tensor;
}

/// Returns true if the tensor of a verified value is in the arena.
bool is_planned(const FlatbufferProgram& flatbuffer, uint32_t value_index);

/// A verified instruction.
struct Instruction {
  uint32_t row;  // of the operator table, or of the delegate table if is_delegate_call()
  FlatVector args;
};
Instruction instruction_at(const FlatbufferProgram& flatbuffer, uint32_t index);

/// Returns true if the instruction calls a delegate, not a kernel.
bool is_delegate_call(const FlatbufferProgram& flatbuffer, uint32_t index);

}  // namespace thimble::runtime
