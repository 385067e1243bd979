// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of cortex_m::quantized_batch_matmul: a [N, M, K], a_offset (-zero point), b [N, J, K],
// b_offset, y_zp, mult, shift, [scratch (unused here, but writable),] y [N, M, J]; contiguous. The
// right operand is stored transposed.

#include "abi/params/matmul.h"
#include "kernels/args/operands.h"

namespace thimble::kernels {

/// kOut is the index of y: 8, or 7 for the signature of earlier releases without scratch.
template <uint32_t kOut>
Status check_batch_matmul(const Call& call);

struct BatchMatmul {
  const int8_t* a;
  const int8_t* b;
  int8_t* y;
  int32_t batches, rows, columns, depth;
  abi::MatmulParams params;
};
BatchMatmul bind_batch_matmul(const Call& call, uint32_t out);

}  // namespace thimble::kernels
