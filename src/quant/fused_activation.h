#pragma once
// Where a quantizer of PyTorch takes an activation for a part of the operator before it.
//
// NXP's quantizer annotates a convolution or linear layer and the sigmoid or tanh behind it as one:
// what is between them gets no parameters, for NXP's hardware has it in its accumulator. Here it
// has codes. Data says how far it reaches; without any it gets the range where the function is not
// yet flat: outside of it the result stays within a code of 256.

#include "quant/pins.h"

namespace thimble::quant {

/// Pins the operands of sigmoid and tanh that weighted operators make and PyTorch left alone.
void pin_before_activations(PinnedGraph& pinned);

}  // namespace thimble::quant
