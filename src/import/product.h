#pragma once
// Products of two tensors, whichever of them is known at import.

#include "import/call.h"

namespace thimble::import_pt2 {

/// scale * torch.matmul(a, b), for every pair of ranks that PyTorch multiplies. A constant matrix
/// becomes the weight of a linear, which has a scale for each column.
Result<ir::ValueId> multiplied(Call& call, ir::ValueId a, ir::ValueId b, double scale = 1);

/// The same with the last two dimensions of b exchanged; both have rank 2 or more.
Result<ir::ValueId> multiplied_transposed(Call& call, ir::ValueId a, ir::ValueId b,
                                          double scale = 1);

}  // namespace thimble::import_pt2
