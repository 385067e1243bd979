// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls a kernel with the values of ExecuTorch's runtime.

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/span.h>

#include "kernels/kernels.h"

namespace thimble::executorch {

using Values = ::executorch::runtime::Span<::executorch::runtime::EValue*>;

/// Converts the values to the arguments of the kernel, checks them, and runs the kernel. `values`
/// has kernel.count_in_file entries: the arguments, then the return value, which is not read.
///
/// The check of each call is necessary: ExecuTorch's runtime does not show a kernel its arguments
/// when it loads a method.
abi::Status call_kernel(const kernels::Kernel& kernel, Values values);

}  // namespace thimble::executorch
