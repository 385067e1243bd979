// SPDX-License-Identifier: Apache-2.0
#pragma once
// fold_batch_norm(graph): folds per-channel scales and shifts of a convolution's result into the
// weights and bias of the convolution.
//
// Folded: chains of batch_norm, and of mul, div, add, sub with a constant that has one number per
// channel or one number in all. The chain must follow a conv2d, conv_transpose2d or linear with
// constant weights, and every value in between must have one reader.
// Any other batch_norm becomes a 1x1 depthwise convolution, together with a preceding per-channel
// mul or div that it alone reads. If its scale or shift is not constant, it becomes mul and add.
// After: no batch_norm remains; values are equal up to float rounding. The result keeps the source
// of the convolution. Tests: tests/unit/passes_fold_batch_norm_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_batch_norm(const ir::Graph& graph);
}
