#pragma once
// The checks between a verified file and a model that may run.

#include "runtime/exec/model.h"

namespace thimble::runtime {

/// Gives every row of the operator table its kernel: the first of the table with that name.
Status resolve_kernels(const Image& image, const kernels::KernelTable& kernels,
                       ResolvedKernel* resolved);

/// Decodes each instruction once and asks its kernel; then the graph's outputs. While
/// model.resolved is null (no memory yet), kernels are looked up one by one.
Status check_instructions(const Model& model, const kernels::KernelTable& kernels);

}  // namespace thimble::runtime
