#pragma once
// fold_batch_norm(graph): what scales and shifts each channel of a convolution's result goes into
// its weights and bias.
//
// Folded: chains of batch_norm, and of mul, div, add, sub with a constant of one number per channel
// (or one in all), behind a conv2d, conv_transpose2d or linear with constant weights; every value
// between them must have no other reader. A batch_norm elsewhere, with a mul or div by channel that
// only it reads, becomes a depthwise convolution with one tap, or, if its numbers are computed, mul
// and add.
// After: no batch_norm; values equal up to float rounding. The result keeps the convolution's
// source. Tests: tests/unit/passes_fold_batch_norm.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> fold_batch_norm(const ir::Graph& graph);
}
