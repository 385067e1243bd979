// SPDX-License-Identifier: Apache-2.0
#pragma once
// The matrix products of one step of gru, lstm and rnn, requantized to the scale of the gates.

#include <cstdint>

#include "kernels/args/recurrent.h"

namespace thimble::kernels {

/// Sets lanes[r] to the contributions of x (a row of inputs) and h for each row r of the weights,
/// with biases. From row `split` on they are stored separately: x's contribution at lanes[r], h's
/// at lanes[r + hidden].
void compute_gates(const Recurrent& layer, const int8_t* x, int32_t split);
void compute_gates(const Recurrent& layer, const int16_t* x, int32_t split);

}  // namespace thimble::kernels
