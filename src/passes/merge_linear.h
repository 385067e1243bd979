// SPDX-License-Identifier: Apache-2.0
#pragma once
// merge_linear(float graph): a linear after a linear, or a 1x1 convolution after a convolution,
// with nothing between, becomes one: its weights are the product of both. Only where that needs
// fewer multiplications and fewer weights: a factorized layer (a large matrix as two small ones)
// stays as it is.
//
//   linear 64 -> 256 -> 32: 64*256 + 256*32 = 24,576 -> 64*32 = 2,048 MACs per row
//
// Outputs change by rounding only. Test: tests/unit/passes_channels_test.cpp.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::passes {
[[nodiscard]] Result<ir::Graph> merge_linear(const ir::Graph& graph);
}
