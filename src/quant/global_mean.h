// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replaces average pools over whole images by means.
//
// The range of an average is far smaller than the range of its operand. A pool shares the scale of
// its operand; a mean has its own scale and uses the full int8 range.

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::quant {

/// Returns an equivalent graph. Used for engines on which a mean is as fast as a pool.
/// With `only_requantized`, in a graph that PyTorch quantized, changes only pools whose operand and
/// result have different parameters there.
[[nodiscard]] Result<ir::Graph> pools_to_means(const ir::Graph& graph,
                                               bool only_requantized = false);

}  // namespace thimble::quant
