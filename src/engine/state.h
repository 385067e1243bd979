// SPDX-License-Identifier: Apache-2.0
#pragma once
// assign_state_memory: rewrites the graph so that each state has one fixed memory location.
//
// A run may overwrite the memory of a state only after the last read of the old content. If the
// operator that produces the new content runs after all these reads, it writes directly to the
// state's memory. Otherwise the new content is copied there at the end of the run. Afterwards the
// next value of each state is the state itself, or the result of an operator with a call of its
// own. No two states have the same next value. Computed values are unchanged.

#include "ir/graph.h"

namespace thimble::engine {
/// The memory orders of the graph must be assigned; a state has the memory order of its next value.
[[nodiscard]] Result<ir::Graph> assign_state_memory(const ir::Graph& graph);
}  // namespace thimble::engine
