// SPDX-License-Identifier: Apache-2.0
#pragma once
// A product with a constant matrix along one dimension: resizing, adaptive pools of volumes.

#include "import/call.h"

namespace thimble::import_pt2 {

/// Returns y[..., i, ...] = sum over k of matrix[i, k] * x[..., k, ...]. The matrix is [out, in].
Result<ir::ValueId> linear_along(Call& call, ir::ValueId x, size_t dim, ir::Tensor matrix);

}  // namespace thimble::import_pt2
