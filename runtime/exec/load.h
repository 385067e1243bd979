#pragma once
// The checks between a verified file and a model that may run.

#include "runtime/exec/model.h"
#include "runtime/program/access.h"

namespace thimble::runtime {

/// Gives every row of the operator table its kernel: the first of the table with that name.
Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       const kernels::Kernel** resolved);

/// Inputs and outputs are tensors; an input is one that may be written or pointed elsewhere.
Status check_interface(Checked& access, const Model& model);

/// Decodes each instruction once and asks its kernel. While model.resolved is null (no memory yet),
/// kernels are looked up one by one.
Status check_instructions(Checked& access, const Model& model, const kernels::KernelTable& kernels);

}  // namespace thimble::runtime
