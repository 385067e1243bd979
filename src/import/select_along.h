#pragma once
// Movement of data along one dimension by positions that are known at import.

#include "import/call.h"

namespace thimble::import_pt2 {

/// x[..., positions, ...] along `dim`: the tensor itself or a slice of it if the positions follow
/// each other, else a `gather`. `positions` is not empty and inside the dimension.
Result<ir::ValueId> select_along(Call& call, ir::ValueId x, size_t dim, const Ints& positions);

}  // namespace thimble::import_pt2
