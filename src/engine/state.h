#pragma once
// settle_states: makes every state something that the program can keep in one place.
//
// A state has fixed memory. A run may write to it as soon as nobody reads the old content any more;
// what a state becomes is therefore made there directly where its operator comes after every
// reader, and else copied there at the end. Afterwards each state becomes itself, or the result of
// an operator with a call of its own that no other state becomes. Values: identical.

#include "ir/graph.h"

namespace thimble::engine {
/// The graph has its memory orders already, and a state has that of what it becomes.
[[nodiscard]] Result<ir::Graph> settle_states(const ir::Graph& graph);
}  // namespace thimble::engine
