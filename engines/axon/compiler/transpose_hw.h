// SPDX-License-Identifier: Apache-2.0
#pragma once
// transposed_hw(): transposes H and W of all images of a subgraph.
//
// The NPU computes row by row, so an image that is wider than high costs fewer cycles. Kernels,
// strides, padding and weights are transposed with the images. The columns of a linear layer after
// a flattened image are reordered. So no data is moved inside the subgraph. The sizes of inputs and
// outputs are swapped; the caller must transpose their contents.

#include <optional>

#include "ir/graph.h"

namespace thimble::engine::axon {

/// Returns nothing if an operator of the legalized subgraph depends on the order of H and W.
[[nodiscard]] std::optional<ir::Graph> transposed_hw(const ir::Graph& legalized);

}  // namespace thimble::engine::axon
