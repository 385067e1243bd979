// SPDX-License-Identifier: Apache-2.0
#pragma once
// Handles models in which PyTorch's quantizer fused an activation into the preceding operator.
//
// NXP's quantizer annotates a convolution or linear layer and the sigmoid or tanh that follows as
// one operator. The value between them has no parameters, because NXP's hardware keeps it in the
// accumulator. Thimble quantizes this value. Calibration data gives its range. Without data it gets
// the range in which the function is not flat: outside of it, the result changes by less than one
// of 256 steps.
//
// ExecuTorch's Cortex-M quantizer does the same with hardsigmoid, which is clamp(x + 3, 0, 6) / 6.
// The sum is part of the bias. The clamped value gets six times the scale of the result, so both
// have the same quantized values.

#include "quant/pins.h"

namespace thimble::quant {

/// Pins the operands of sigmoid, tanh and hardsigmoid that weighted operators produce and PyTorch
/// did not quantize.
void pin_before_activations(PinnedGraph& pinned);

}  // namespace thimble::quant
