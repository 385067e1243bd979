// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of softmax and log_softmax: int8 rows that are contiguous in both tensors.

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

/// Checks that x and y are int8 with the same shape and order, and that dimension `dim` is
/// innermost.
Status check_rows(const Tensor& x, const Tensor& y, uint32_t dim);

}  // namespace thimble::kernels
