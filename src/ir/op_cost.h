// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operation counts.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::ir {

/// Returns the index of operand `w_ih` of a recurrent operator; `w_hh` follows it.
[[nodiscard]] size_t w_ih_operand(const Graph& graph, const Op& op);
/// Returns the number of weights that a time step of a recurrent operator reads.
[[nodiscard]] int64_t weights_per_step(const Graph& graph, const Op& op);
/// Returns the number of multiply-accumulates of two operands' elements; 0 for other operators.
[[nodiscard]] int64_t macs_of(const Graph& graph, const Op& op);
/// Returns the sum of macs_of() over all operators.
[[nodiscard]] int64_t total_macs(const Graph& graph);
/// Returns macs_of(), or the number of elements of the result if that is larger.
[[nodiscard]] int64_t macs_or_elements(const Graph& graph, const Op& op);

}  // namespace thimble::ir
