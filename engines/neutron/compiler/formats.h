#pragma once
// formats(): in which memory order each value of a region shall lie, before any kernel is made.
//
// Operators that see images, and PReLU with a slope per channel, force channels last on their
// images. What is forced spreads both ways, to a fixpoint, through operators that take any order
// (elementwise, concat, slice, pad, reductions that keep their dimensions), turned through permute,
// and through a reshape where the same bytes have an order in both shapes. Values that nothing
// forces lie as their first full-sized operand does, and rows first where there is none.

#include <vector>

#include "ir/graph.h"

namespace thimble::engine::neutron {

/// By value; empty: rows first.
[[nodiscard]] std::vector<ir::DimOrder> formats(const ir::Graph& region);

}  // namespace thimble::engine::neutron
