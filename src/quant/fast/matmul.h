// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix products of two activations. Results equal those of the reference evaluator bit for bit:
// float products are summed in double in the same order, integer sums are exact.

#include "eval/call.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

/// Runs a matmul. Uses scratch slots 0 and 1.
void run_matmul(const eval::Call& call, Scratch& scratch);

/// Computes the sums of a qmatmul: sums[rows, columns] per matrix of the result, without zero
/// points. Returns null if a sum could exceed 32 bits. Uses scratch slots 0, 1 and 2.
[[nodiscard]] const int32_t* qmatmul_sums(const eval::Call& call, Scratch& scratch);

}  // namespace thimble::quant
