// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies a graph in which patterns of several operators are replaced.

#include <vector>

#include "ir/graph.h"

namespace thimble::passes {

/// `match(op)` returns a Result with an optional pattern that begins at `op`. `emit(rewriter, op,
/// pattern)` adds what replaces it, and sets the pattern's last value. `pattern.fused` are the
/// results of its operators after `op`, which are not copied.
template <typename Match, typename Emit>
Result<ir::Graph> fuse_each(const ir::Graph& graph, const Match& match, const Emit& emit) {
  ir::Rewriter rewriter(graph);
  std::vector<bool> fused(graph.value_count(), false);
  for (const ir::Op& op : graph.ops()) {
    if (fused[static_cast<size_t>(op.output)]) continue;
    THIMBLE_TRY(const auto pattern, match(op));
    if (!pattern) {
      THIMBLE_CHECK(rewriter.copy(op));
      continue;
    }
    for (const ir::ValueId id : pattern->fused) fused[static_cast<size_t>(id)] = true;
    THIMBLE_CHECK(emit(rewriter, op, *pattern));
  }
  return rewriter.finish();
}

}  // namespace thimble::passes
