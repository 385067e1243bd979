#pragma once
// One graph by several calls in a row, by the evaluator and by the production runtime.

#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "ir/graph.h"

namespace thimble::test {

/// Inputs or outputs of several calls, one behind the other: state goes on from call to call.
using Series = std::vector<std::vector<ir::Tensor>>;

[[nodiscard]] Result<Series> run_on_evaluator(const ir::Graph& graph, const Series& calls);

/// The file that was made of the graph, with inputs and outputs in the graph's memory orders. State
/// is also saved, restored and reset on the way. What goes wrong fails the test.
[[nodiscard]] Series run_on_host(const ir::Graph& graph, const Bytes& pte, const Series& calls);

}  // namespace thimble::test
