#pragma once
// Operands of softmax and log_softmax: rows of int8 codes that are runs of bytes in both tensors.

#include <cstdint>

#include "kernels/args/operands.h"

namespace thimble::kernels {

/// x and y are int8 of one shape and order, and dimension `dim` is innermost in memory.
Status check_rows(const Tensor& x, const Tensor& y, uint32_t dim);

}  // namespace thimble::kernels
