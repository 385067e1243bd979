// SPDX-License-Identifier: Apache-2.0
#pragma once
// remove_unused(graph): returns the graph without the operators, constants and states that no
// output depends on, in this run or in a later run.
// Inputs are kept, because they are the interface of the model. Order and names of the remaining
// values do not change.

#include "ir/graph.h"

namespace thimble::ir {
[[nodiscard]] Graph remove_unused(const Graph& graph);
}
