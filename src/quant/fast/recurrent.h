// SPDX-License-Identifier: Apache-2.0
#pragma once
// Recurrent layers in float. Sums of products equal those of the reference evaluator; functions are
// those of stable_math.h.

#include "eval/call.h"
#include "quant/fast/executor.h"

namespace thimble::quant {

// These use scratch slots 0 and 1.
void run_gru(const eval::Call& call, Scratch& scratch);
void run_lstm(const eval::Call& call, Scratch& scratch);
void run_rnn(const eval::Call& call, Scratch& scratch);

}  // namespace thimble::quant
