// SPDX-License-Identifier: Apache-2.0
#pragma once
// fold_input_scale(float graph): mean and standard deviation of each channel of an input become
// part of the first convolution.
//
//   conv2d((x - m[c]) / s[c], w, b) = conv2d(x, w / s[c], b - sum of w * m[c] / s[c])
//
// Exact in real numbers. A convolution with padding is left as it is unless all m are 0: it pads
// with 0 after the subtraction, which is m[c] before it, and a kernel pads with one value for all
// channels. A mean and a deviation that are equal in all channels are left too: they become zero
// point and scale of the input. Tests: tests/unit/passes_fold_input_scale_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_input_scale(const ir::Graph& graph);
}
