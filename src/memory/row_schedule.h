// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes the rows of each operator of a sequence that runs a few rows at a time.
//
// Each tile computes the next rows of the last result. The schedule of a tile goes backwards: every
// operator computes the rows that its readers still need, so no row is computed twice. Row tiling
// on a core (row_tiling.h) and the cascades of an NPU use the same schedule; they differ in how
// they store the rows between two tiles.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/index_range.h"

namespace thimble::memory {

/// The result of one operator of the sequence.
struct RowResult {
  int64_t rows = 0;
  bool is_needed_after = false;  // the last tile computes all its rows
};

/// The rows of one operator in one tile.
struct RowStep {
  int op = 0;         // index in the sequence
  IndexRange made;    // result rows to compute; may be empty
  IndexRange needed;  // result rows that other operators read in this tile; may begin before `made`
};

/// Returns the steps of each tile in execution order. Calls reads(op, rows, require_rows) for the
/// rows that an operator computes. `reads` must call require_rows(producer, operand_rows) for each
/// operand that an earlier operator of the sequence produces.
template <typename Reads>
[[nodiscard]] std::vector<std::vector<RowStep>> row_schedule(const std::vector<RowResult>& results,
                                                             int64_t rows_per_tile,
                                                             const Reads& reads) {
  constexpr int64_t kNotNeeded = std::numeric_limits<int64_t>::max();
  const size_t count = results.size();
  const int64_t height = results.back().rows;
  std::vector<int64_t> done(count, 0);  // rows that earlier tiles have computed
  std::vector<std::vector<RowStep>> tiles;
  while (done.back() < height) {
    const int64_t end = std::min(height, done.back() + rows_per_tile);
    std::vector<IndexRange> needed;
    for (const int64_t rows : done) needed.push_back({kNotNeeded, rows});
    const auto require_rows = [&](int producer, const IndexRange& rows) {
      IndexRange& all = needed[static_cast<size_t>(producer)];
      all = {std::min(all.begin, rows.begin), std::max(all.end, rows.end)};
    };
    require_rows(static_cast<int>(count) - 1, {done.back(), end});
    std::vector<RowStep>& steps = tiles.emplace_back();
    for (size_t i = count; i-- > 0;) {
      const int op = static_cast<int>(i);
      if (end == height && results[i].is_needed_after) require_rows(op, {done[i], results[i].rows});
      if (needed[i].begin == kNotNeeded) continue;
      const IndexRange made = {done[i], needed[i].end};
      steps.push_back({op, made, needed[i]});
      if (made.size() > 0) reads(op, made, require_rows);
      done[i] = made.end;
    }
    std::ranges::reverse(steps);
  }
  return tiles;
}

}  // namespace thimble::memory
