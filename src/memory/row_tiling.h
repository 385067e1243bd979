// SPDX-License-Identifier: Apache-2.0
#pragma once
// Row tiling (patch-based inference): a sequence of image operators is executed for a few rows at a
// time, so that the intermediate images are never in memory as a whole.
//
// row_schedule.h says which rows each operator computes in each tile. Rows that a window needs
// again in the next tile are kept in a line buffer: the last rows of the old tile are copied in
// front of the new ones. Computing these rows again would repeat the multiplications of all
// operators before, which costs more than the copy. So no row is computed twice; tiling costs only
// copies and calls.
//
// The result is a graph of slices, concatenations and the operators on fewer rows; the reference
// evaluator runs it. Memory planning decides which slices and concatenations need no copy.
// Tested by tests/conformance/row_tiling_test.cpp.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace thimble::memory {

/// A tiled sequence of operators: `first` to `last` of the graph, with `rows` result rows of the
/// last operator per tile.
struct RowTiling {
  int first = 0, last = 0;
  int64_t rows = 1;
  bool operator==(const RowTiling&) const = default;
};

struct RowTilingCost {
  int64_t tiles = 0;
  int64_t live_bytes = 0;    // estimated peak memory, including operands and result
  int64_t copied_bytes = 0;  // bytes copied from tile to tile
  int64_t calls = 0;         // operator calls in all tiles
};

/// Returns the cost, or nothing if these operators cannot be tiled. Requirements: only the last
/// result is read by other operators; all operators are window or elementwise operators on images
/// of batch 1. If `owns_inputs`, graph inputs are in the arena; otherwise the rows that a tile
/// reads are copied to the arena.
[[nodiscard]] std::optional<RowTilingCost> row_tiling_cost(const ir::Graph& graph,
                                                           const RowTiling& tiling,
                                                           bool owns_inputs = false);

/// Returns the graph with the sequences `all` tiled. Each must be tileable; they must not overlap.
[[nodiscard]] Result<ir::Graph> apply_row_tiling(const ir::Graph& graph,
                                                 std::span<const RowTiling> all);

}  // namespace thimble::memory
