// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes and sums at positions that are known at import.

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns `x` after x[indices] = values, or after x[indices] += values. The indices are constants
/// of adjacent dimensions, kNoValue for a dimension without an index. Returns kNoValue for others.
Result<ir::ValueId> put_known(Call& call, ir::ValueId x, const std::vector<ir::ValueId>& indices,
                              ir::ValueId values, bool accumulates);

}  // namespace thimble::import_pt2
