#pragma once
// Load of a flatbuffer program: assigns kernels to operators, and checks inputs, outputs and
// instructions.

#include "runtime/exec/model.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

/// Sets the kernel of every row of the operator table: the first kernel with that name.
Status resolve_kernels(const FlatbufferProgram& flatbuffer, const kernels::KernelTable& kernels,
                       const kernels::Kernel** kernel_of_op);

/// Checks that inputs and outputs are tensors, and that no input is a constant.
Status check_inputs_and_outputs(CheckedAccess& access, const Model& model);

/// Decodes each instruction once and calls check() of its kernel or delegate. If a call has the
/// number of arguments of another signature, the kernel of its operator is replaced. While
/// model.kernel_of_op is null (no memory yet), kernels are looked up one by one.
Status check_instructions(CheckedAccess& access, const Model& model,
                          const kernels::KernelTable& kernels);

}  // namespace thimble::runtime
