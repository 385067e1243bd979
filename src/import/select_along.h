// SPDX-License-Identifier: Apache-2.0
#pragma once
// Selects positions that are known at import along one dimension.

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns x[..., positions, ...] along `dim`. Consecutive positions give the tensor itself or a
/// slice; other positions give a `gather`. `positions` is not empty and inside the dimension.
Result<ir::ValueId> select_along(Call& call, ir::ValueId x, size_t dim, const Ints& positions);

}  // namespace thimble::import_pt2
