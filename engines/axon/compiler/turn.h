#pragma once
// turned(): a region with height and width of all its pictures exchanged.
//
// The NPU works row by row: a picture that is wider than high costs fewer cycles. Kernels, strides,
// padding and weights are exchanged with the pictures, and the columns of a linear layer behind a
// flattened picture are put into the new order, so inside nothing is moved. Inputs and outputs
// have their sizes exchanged, which the caller has to do with their contents.

#include <optional>

#include "ir/graph.h"

namespace thimble::engine::axon {

/// Of a region in the NPU's arithmetic. Nothing if some operator depends on the order.
[[nodiscard]] std::optional<ir::Graph> turned(const ir::Graph& formed);

}  // namespace thimble::engine::axon
