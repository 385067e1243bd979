// SPDX-License-Identifier: Apache-2.0
#pragma once
// Scratch of kernels with packed weights that run faster with more of it.

#include <cstdint>

#include "ir/graph.h"

namespace thimble::engine::cortex_m {

/// Returns true if the scratch of an operator hardly enlarges the arena: it is small relative to
/// the operator's activations, or another operator has more activations. Ignores overlap and
/// lifetimes.
[[nodiscard]] bool scratch_is_small(const ir::Graph& graph, const ir::Op& op,
                                    int64_t scratch_bytes);

}  // namespace thimble::engine::cortex_m
