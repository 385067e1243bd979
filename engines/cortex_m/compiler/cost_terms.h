// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes of a kernel call that its estimated cost is linear in (cost.h). They follow the loops of
// the kernels: blocks of channels, taps inside the image, runs of contiguous elements.

#include "engine/engine.h"

namespace thimble::engine::cortex_m {

/// Returns the sizes of a call. Steps are products of a convolution or matrix product, elements
/// that a pool or reduction reads, result elements of other operators.
[[nodiscard]] CostTerms terms_of(const ir::Graph& graph, const ir::Op& op, const KernelCall& call);

}  // namespace thimble::engine::cortex_m
