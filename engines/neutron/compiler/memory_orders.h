// SPDX-License-Identifier: Apache-2.0
#pragma once
// memory_orders(): assigns a memory order to each value of a subgraph before kernels are created.
//
// Image operators, and PReLU with a slope per channel, require channels-last images. Their order is
// propagated in both directions, to a fixpoint. It passes through operators that accept any order:
// elementwise, concat, slice, pad, and reductions that keep their dimensions. It is permuted by a
// permute, and passes a reshape whose bytes have an order in both shapes. Another value has the
// order of its first operand with the result's size, or is row-major.

#include <vector>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// Returns one order per value; empty means row-major.
[[nodiscard]] std::vector<ir::DimOrder> memory_orders(const ir::Graph& subgraph);

}  // namespace thimble::engine::neutron
