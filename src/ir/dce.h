#pragma once
// remove_unused(graph): the graph without operators, constants and states that no output depends
// on, now or in a later run.
// Inputs stay: they are the caller's interface. Order and names of what remains do not change.

#include "ir/graph.h"

namespace thimble::ir {
[[nodiscard]] Graph remove_unused(const Graph& graph);
}
