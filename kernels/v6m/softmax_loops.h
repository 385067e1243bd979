#pragma once
// The rows of softmax_rows in assembly (softmax_loops.cpp).

#include "abi/packed_rows.h"

namespace thimble::kernels {

/// One row or more of 3 to 4095 codes to codes of 8 bits, of a table that begins with 1.
extern "C" void thimble_v6m_softmax(void* const* operands);

/// What the loops leave to C++: the result, from 0 on, of an exponential in a row with this sum.
extern "C" uint32_t thimble_v6m_softmax_exact(uint32_t exp, uint32_t sum);

/// 1/256 of 2^31 / d for d from 2^15 to 2^16, by the seven bits of d behind the first.
struct SoftmaxGuesses {
  uint8_t of[128];
};
extern "C" const SoftmaxGuesses thimble_v6m_softmax_guesses;

}  // namespace thimble::kernels
