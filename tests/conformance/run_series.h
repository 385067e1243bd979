// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs one graph for several consecutive calls, on the evaluator and on the production runtime.

#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::test {

/// Inputs or outputs of several consecutive calls. State persists from call to call.
using Series = std::vector<std::vector<ir::Tensor>>;

[[nodiscard]] Result<Series> run_on_evaluator(const ir::Graph& graph, const Series& calls);

/// Runs the compiled file, with inputs and outputs in the graph's memory orders. The run also
/// saves, restores and resets the state. An error fails the test.
[[nodiscard]] Series run_on_host(const ir::Graph& graph, const Bytes& pte, const Series& calls);

}  // namespace thimble::test
