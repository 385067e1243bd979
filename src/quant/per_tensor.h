#pragma once
// Which linears can do with one weight scale for all output channels, as some kernels need.

#include <set>

#include "quant/quality.h"

namespace thimble::quant {

/// Operator indices in the float graph: each linear that, alone with one scale, costs the graph's
/// outputs at most `tolerance_db` of SQNR against float (the worst output counts).
[[nodiscard]] Result<std::set<size_t>> close_per_tensor_linears(const ir::Graph& float_graph,
                                                                const Plan& plan,
                                                                const Decisions& decisions,
                                                                const Samples& samples, Io io,
                                                                int threads, double tolerance_db);

}  // namespace thimble::quant
