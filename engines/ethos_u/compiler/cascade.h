#pragma once
// Cascades: several operations run a few rows at a time, so that the tensors between them need only
// rolling buffers of a few rows.
//
// The last operation runs in steps of equal height. Before each step the other operations compute
// exactly the rows that the step still needs. Chains and branches are supported, including residual
// additions: the rolling buffer of the shortcut holds as many rows as the other branch delays.

#include <map>
#include <optional>
#include <vector>

#include "engines/ethos_u/compiler/program_analysis.h"

namespace thimble::engine::ethos_u {

struct Cascade {
  std::vector<Step> steps;
  std::map<int, int64_t>
      rolling_buffers;  // number of rows of the tensors that exist only in the cascade
};

/// Creates the cascade of operations [first, end) with steps of `rows` rows of the last operation.
/// Returns nullopt if they cannot be computed row by row.
[[nodiscard]] std::optional<Cascade> make_cascade(const ProgramAnalysis& network, int first,
                                                  int end, int64_t rows);

/// Returns true if only operations of [first, end) write and read the tensor.
[[nodiscard]] bool is_internal(const ProgramAnalysis& network, int tensor, int first, int end);

}  // namespace thimble::engine::ethos_u
