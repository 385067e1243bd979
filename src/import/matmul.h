// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix products of two tensors, each constant or computed.

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns scale * torch.matmul(a, b), for all pairs of ranks that PyTorch supports. A constant
/// matrix becomes the weight of a linear, which has a scale per column.
Result<ir::ValueId> multiplied(Call& call, ir::ValueId a, ir::ValueId b, double scale = 1);

/// Same with the last two dimensions of b swapped. Both operands have rank 2 or more.
Result<ir::ValueId> multiplied_transposed(Call& call, ir::ValueId a, ir::ValueId b,
                                          double scale = 1);

}  // namespace thimble::import_pt2
