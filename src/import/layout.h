// SPDX-License-Identifier: Apache-2.0
#pragma once
// Computes the memory order of a tensor's dimensions from its strides.

#include <vector>

#include "ir/type.h"

namespace thimble::import_pt2 {

/// Returns an empty order for contiguous tensors, 0,2,3,1 for channels-last tensors, and otherwise
/// the dimensions by decreasing stride. Dimensions of size 1 are ignored. A tensor that is both
/// contiguous and channels-last is contiguous.
[[nodiscard]] ir::DimOrder dim_order(const ir::Shape& shape, const std::vector<int64_t>& strides);

}  // namespace thimble::import_pt2
