// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExecuTorch's tensors as the kernels' view of a tensor.

#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include "kernels/kernels.h"

namespace thimble::executorch {

/// Makes the view of a tensor. The pointers in it refer to `from`'s own arrays. Returns
/// kUnsupported if Thimble has no such element type, rank or size.
abi::Status view_tensor(const ::executorch::aten::Tensor& from, kernels::Tensor& view);

}  // namespace thimble::executorch
