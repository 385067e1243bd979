// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects linears that can use one weight scale for all output channels, which some kernels
// require.

#include <set>

#include "quant/quality.h"

namespace thimble::quant {

/// Returns how many of the samples close_per_tensor_linears() reads: more for a small network.
[[nodiscard]] int64_t per_tensor_samples(const ir::Graph& float_graph, int64_t available);

/// Returns operator indices of the float graph. Each of these linears, if it alone has one scale,
/// reduces the SQNR of the worst output against float by at most `tolerance_db`, as measured in
/// small networks and estimated in others. `per_channel` is the graph with a scale per channel.
[[nodiscard]] Result<std::set<size_t>> close_per_tensor_linears(
    const ir::Graph& float_graph, const Plan& plan, const Decisions& decisions,
    const LoweredGraph& per_channel, const Samples& samples, const IoTypes& io, int threads,
    double tolerance_db);

}  // namespace thimble::quant
