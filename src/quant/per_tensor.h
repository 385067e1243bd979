#pragma once
// Which linears can do with one weight scale for all output channels, as some kernels need.

#include <set>

#include "quant/side_by_side.h"

namespace thimble::quant {

/// Operator indices in the float graph. A linear is among them if the SQNR of its result against
/// float falls by less than `tolerance_db` when only its own weights change; what reaches it comes
/// from `lowered`, the graph with a scale per channel.
[[nodiscard]] std::set<size_t> close_per_tensor_linears(
    const ir::Graph& float_graph, const LoweredGraph& lowered, const Decisions& decisions,
    const Samples& samples, const QualityRequest& request, double tolerance_db);

}  // namespace thimble::quant
