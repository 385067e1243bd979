// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cascades: several operations run a few rows at a time, so that the tensors between them need only
// rolling buffers of a few rows.
//
// The last operation runs in tiles of equal height. For each tile the other operations compute
// exactly the rows that it still needs (memory/row_schedule.h). Chains and branches are supported,
// including residual additions: the rolling buffer of the shortcut holds as many rows as the other
// branch delays.

#include <map>
#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/program_analysis.h"

namespace thimble::engine::ethos_u {

struct Cascade {
  std::vector<Step> steps;  // kernels, tile by tile
  /// Number of rows of the tensors that exist only in the cascade.
  std::map<int, int64_t> rolling_buffers;
};

/// Creates the cascade of operations [first, end) with tiles of `rows` rows of the last operation.
/// Returns nullopt if they cannot be computed row by row.
[[nodiscard]] std::optional<Cascade> make_cascade(const ProgramAnalysis& network, int first,
                                                  int end, int64_t rows);

/// Returns true if only operations of [first, end) write and read the tensor.
[[nodiscard]] bool is_internal(const ProgramAnalysis& network, int tensor, int first, int end);

}  // namespace thimble::engine::ethos_u
