// SPDX-License-Identifier: Apache-2.0
#pragma once
// The row loops of softmax_rows in assembly (softmax_loops.cpp).

#include "abi/packed_ops.h"

namespace thimble::kernels {

/// Computes at least one row of 3 to 4095 int8 values; results are int8. Requires exp[0] of
/// about 1 (see suits_loops() in softmax_rows.cpp).
extern "C" void thimble_v6m_softmax(void* const* operands);

/// Called by the loops: returns the exact result, starting at 0, of an exponential in a row with
/// this sum.
extern "C" uint32_t thimble_v6m_softmax_exact(uint32_t exp, uint32_t sum);

/// 2^31 / d in units of 256, for d from 2^15 to 2^16, indexed by the seven bits of d after the
/// first.
struct SoftmaxGuesses {
  uint8_t of[128];
};
extern "C" const SoftmaxGuesses thimble_v6m_softmax_guesses;

}  // namespace thimble::kernels
