// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tied weights: a table that a gather reads (a token embedding) is also the weights of a linear
// layer with one scale. The table gets the linear's scale and zero point 0, so that both have the
// same bytes and a file can store them once.

#include <map>
#include <set>

#include "quant/plan.h"

namespace thimble::quant {

/// Returns true if an operator reads rows of a constant table. Without one, tied_tables() is empty.
[[nodiscard]] bool reads_tables(const ir::Graph& graph);

/// Returns the int8 parameters of each such table. `per_tensor` has the operator indices of linears
/// with one weight scale.
[[nodiscard]] std::map<ir::ValueId, Params> tied_tables(const ir::Graph& graph, const Plan& plan,
                                                        const std::set<size_t>& per_tensor);

}  // namespace thimble::quant
