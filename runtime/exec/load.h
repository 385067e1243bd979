#pragma once
// Checks at load, after which the model may run.

#include "runtime/exec/model.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

/// Sets the kernel of every row of the operator table: the first kernel with that name.
Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       const kernels::Kernel** resolved);

/// Checks that inputs and outputs are tensors, and that no input is a constant.
Status check_interface(Checked& access, const Model& model);

/// Decodes each instruction once and calls its kernel's check(). While model.resolved is null (no
/// memory yet), kernels are looked up one by one.
Status check_instructions(Checked& access, const Model& model, const kernels::KernelTable& kernels);

}  // namespace thimble::runtime
